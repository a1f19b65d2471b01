// Decompression of gzip (RFC 1952): members one after the other, as `cat a.gz b.gz` makes them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

struct z_stream_s;

namespace splitcount::intake {

/// True where bytes begin like gzip.
[[nodiscard]] bool is_gzip(std::string_view bytes) noexcept;

class Gunzip {
 public:
  Gunzip();  ///< throws std::bad_alloc

  struct Step {
    std::size_t used = 0;  ///< bytes of the input that are done with
    std::size_t made = 0;  ///< bytes of output
    bool damaged = false;  ///< the input is no gzip here; it stays so
  };
  /// Goes on with more input; both spans are not empty. Zero bytes between and after members are padding.
  [[nodiscard]] Step step(std::string_view in, std::span<char> out);
  /// True before, between and after members: the input may end here.
  [[nodiscard]] bool may_end() const noexcept { return between_members_; }

 private:
  struct End {
    void operator()(z_stream_s* stream) const noexcept;
  };
  std::unique_ptr<z_stream_s, End> stream_;
  bool between_members_ = true;
};

}  // namespace splitcount::intake

// SHA-256 over a growing run of bytes, by OpenSSL (which uses the processor's own instructions).
#pragma once

#include <array>
#include <memory>
#include <string_view>

struct evp_md_ctx_st;

namespace splitcount::intake {

using Digest = std::array<unsigned char, 32>;

/// The state after some bytes. Copies go on independently. Throws std::bad_alloc where OpenSSL has no memory.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  Sha256(Sha256&&) noexcept = default;
  Sha256& operator=(Sha256&&) noexcept = default;
  ~Sha256() = default;

  void update(std::string_view bytes);
  /// The digest so far; more can follow.
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] static Digest of(std::string_view bytes);

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace splitcount::intake

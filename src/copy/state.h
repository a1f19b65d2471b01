// How far a copy is, kept at the target with its rows: the stream copy/<counter>, whose position goes up by one with each
// transaction, so that of two copies at once one is refused.
//
//   1 RUN CREATED PHASE CLOSED\nAFTER       what is kept with the position, as text
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace splitcount::copy {

enum class Phase : std::uint8_t {
  copying = 1,  ///< totals up to `after` are there as they were
  copied = 2,   ///< all of them
  complete = 3, ///< the source was closed, and the comparison found no difference
};

struct State {
  std::int64_t position = 0;        ///< 0: nothing is there yet
  std::uint64_t run = 0;            ///< drawn by the run that wrote it
  std::int64_t source_created = 0;  ///< when the counter was made at the source, in microseconds: it tells which one it is
  Phase phase = Phase::copying;
  bool closed = false;              ///< the source was closed before this pass over the keys began
  std::string after{};
};

[[nodiscard]] std::string stream_of(std::string_view counter);
[[nodiscard]] std::string encode(const State& state);
/// All but the position; nothing where the text is none that is known here.
[[nodiscard]] std::optional<State> decode(std::string_view text);

}  // namespace splitcount::copy

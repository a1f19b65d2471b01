#include <copy/state.h>

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace splitcount::copy {
namespace {

template <class Number>
bool take_number(std::string_view& text, char end, Number& number, int base = 10) {
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto used = static_cast<std::size_t>(stopped - text.data());
  if (error != std::errc{} || used == text.size() || text[used] != end) return false;
  text.remove_prefix(used + 1);
  return true;
}

}  // namespace

std::string stream_of(std::string_view counter) { return fmt::format("copy/{}", counter); }

std::string encode(const State& state) {
  return fmt::format("1 {:x} {} {} {}\n{}", state.run, state.source_created, static_cast<int>(state.phase),
                     state.closed ? 1 : 0, state.after);
}

std::optional<State> decode(std::string_view text) {
  State state;
  int version = 0;
  int phase = 0;
  int closed = 0;
  const bool read = take_number(text, ' ', version) && version == 1 && take_number(text, ' ', state.run, 16) &&
                    take_number(text, ' ', state.source_created) && take_number(text, ' ', phase) &&
                    take_number(text, '\n', closed);
  if (!read || phase < static_cast<int>(Phase::copying) || phase > static_cast<int>(Phase::complete)) return std::nullopt;
  state.phase = static_cast<Phase>(phase);
  state.closed = closed != 0;
  state.after = std::string(text);
  return state;
}

}  // namespace splitcount::copy

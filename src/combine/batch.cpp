#include <combine/batch.h>

#include <algorithm>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <counter/transaction.h>
#include <counter/write.h>

namespace splitcount::combine {

namespace {

Result<void> check_stream_name(std::string_view name) {
  if (!name.empty() && name.size() <= limits::stream_name_bytes_max && is_utf8(name) && name.find('\0') == name.npos)
    return {};
  return fail(ErrorCode::invalid_argument, fmt::format("the stream name {} is not 1 to {} bytes of UTF-8 without NUL",
                                                       quoted(name), limits::stream_name_bytes_max));
}

Result<Applied> write_adds(counter::Handle& handle, engine::Connection& connection, std::span<const Add> adds) {
  Applied applied;
  if (adds.empty()) return applied;
  auto written = counter::write(handle, connection, adds, engine::Refusal::each, nullptr);
  if (!written) return fail(std::move(written.error()));
  for (std::size_t i = 0; i < written->size(); ++i) {
    Result<Added>& one = (*written)[i];
    if (!one) applied.refused.push_back({i, std::move(one.error())});
  }
  return applied;
}

}  // namespace

Result<void> check_batch(const Batch& batch) {
  if (auto right = check_stream_name(batch.stream); !right) return right;
  if (batch.from < 0 || batch.to <= batch.from) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("a batch goes from {} to {}; it has to begin at 0 or later and go forward", batch.from, batch.to));
  }
  if (batch.checkpoint.size() > limits::checkpoint_bytes_max) {
    return fail(ErrorCode::invalid_argument, fmt::format("a checkpoint of {} bytes is too long; at most {} are allowed",
                                                         batch.checkpoint.size(), limits::checkpoint_bytes_max));
  }
  const auto with_id =
      std::find_if(batch.adds.begin(), batch.adds.end(), [](const Add& add) { return !add.request_id.empty(); });
  if (with_id != batch.adds.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("add {} of the batch has the request id {}; the adds of a batch are known by "
                            "its place in the stream and take none",
                            with_id - batch.adds.begin(), quoted(with_id->request_id)));
  }
  return {};
}

Result<Applied> apply_batch(counter::Handle& handle, const Batch& batch, Deadline deadline) {
  Applied applied;
  const counter::TransactionOptions options{.deadline = deadline, .send_again = true};
  auto done = counter::run_transaction(handle.store().pool(), options, [&](counter::Attempt& attempt) -> Result<void> {
    auto moved = attempt.connection.advance(batch.stream, batch.from, batch.to, batch.checkpoint);
    if (!moved) return fail(std::move(moved.error()));
    if (!*moved) {
      // After a try of ours in doubt: it was committed, and `applied` is what it did.
      if (!attempt.in_doubt) applied = Applied{.replay = true, .refused = {}};
      return {};
    }
    attempt.in_doubt = false;
    auto now = write_adds(handle, attempt.connection, batch.adds);
    if (!now) return fail(std::move(now.error()));
    applied = std::move(*now);
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  return applied;
}

}  // namespace splitcount::combine

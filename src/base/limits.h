// A limit on everything, in one place; the unit is in the name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace splitcount::limits {

inline constexpr int slots_max = 1024;
inline constexpr std::size_t key_bytes_max = 768;  // SQL Server's clustered keys end at 900
inline constexpr std::size_t request_id_bytes_max = 128;
inline constexpr std::size_t counter_name_bytes_max = 40;
inline constexpr std::size_t stream_name_bytes_max = 200;
inline constexpr std::size_t checkpoint_bytes_max = 1'024;
inline constexpr std::int64_t window_seconds_max = 10LL * 366 * 24 * 3600;

inline constexpr std::size_t call_items_max = 65'536;  // adds in one call, keys in one define or totals
inline constexpr int top_max = 100'000;

inline constexpr int call_wait_ms_max = 5'000;      // how long an operation may wait for locks before it is busy
inline constexpr int call_tries_max = 20;           // whole retries of one transaction, within the wait
inline constexpr int connections_max = 64;          // of one Database
inline constexpr int connections_idle_max = 8;

inline constexpr std::size_t place_bytes_max = 500;    // of a database's name in what a closed counter says
inline constexpr int copy_page_keys = 1'000;           // keys or request ids that one transaction of `copy` writes
inline constexpr int copy_wait_ms_max = 60'000;       // how long one of its transactions may wait for locks
inline constexpr int copy_close_wait_s_max = 60;       // how long `copy --final` tries to close a counter
inline constexpr int close_try_ms_max = 1'000;           // a try to close a counter keeps other adds waiting for so long
inline constexpr int copy_s_max = 7 * 24 * 3'600;     // what --max-seconds may say
inline constexpr int copy_named_keys_max = 5;          // of those that differ

inline constexpr std::int64_t journal_deltas_max = 100'000;     // pending in one counter; beyond it adds fold some themselves
inline constexpr std::int64_t journal_deltas_overdue = 50'000;  // beyond it status says that `maintain` is overdue
inline constexpr std::int64_t journal_amount_max = 1'000'000'000'000;  // a larger one is judged, and goes to its slot at once
inline constexpr std::int64_t journal_slot_max = std::int64_t{1} << 62;  // a slot beyond it takes no deltas: each add is judged
inline constexpr int journal_adds_per_look = 200;  // one of so many looks whether too much is pending
inline constexpr int fold_deltas_max = 3'000;        // in one statement, where deltas are numbered
inline constexpr int fold_pages_max = 16;          // of deltas in one statement: about 3,000 deltas
inline constexpr std::int64_t purged_ids_max = 2'000;  // expired request ids that one transaction of `maintain` removes
inline constexpr int fold_ms_max = 40;             // then a fold's transaction begins no other statement

inline constexpr std::size_t group_items_max = 1U << 20U;  // adds in one transaction of a combiner, whatever its own limits
inline constexpr int deadline_tick_ms = 5;          // how often the combiner looks for adds past their deadline

inline constexpr int trial_sessions_max = 1'000;
inline constexpr int trial_turn_s_max = 600;        // of one design in one round
inline constexpr int trial_rounds_max = 100;
inline constexpr int trial_hold_ms = 5;             // a transaction stays open after its add, where lock waits are counted
inline constexpr int trial_batch_adds = 100;        // in one transaction, where batches are tried
inline constexpr int trial_held_adds = 8;           // of each session then

inline constexpr int doctor_watch_s_max = 3'600;     // how long `doctor` watches
inline constexpr int doctor_look_ms = 50;           // from one of its looks to the next
inline constexpr int live_refresh_ms = 1'000;       // how often `inspect locks --live` looks at a terminal

inline constexpr std::size_t log_line_bytes_max = 1U << 20U;   // a longer line is rejected, and read past
inline constexpr std::size_t read_chunk_bytes = 512U << 10U;   // stays in a core's cache: a log of 233 MB costs 0.36 s of
                                                               // processor time so, and 0.55 s in chunks of 4 MiB
inline constexpr std::size_t chunks_in_flight_max = 8;

}  // namespace splitcount::limits

-- What the library sends. ?1 is the key wherever there is one. Tables are named with their schema, since a caller may
-- have a temporary table of the same name.

-- name: key_list
{key},

-- name: key_null
NULL,

-- name: new_key
NEW.{key},

-- name: new_key_match
{key} = NEW.{key} AND

-- name: key_update
{key} = excluded.{key},

-- name: key_parameter
?1,

-- name: key_match
{key} = ?1 AND

-- name: begin
BEGIN IMMEDIATE

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- In the caller's transaction: it takes the write lock and changes nothing. A read that turns into a write would not wait.

-- name: lock
UPDATE main.splitcount_schema SET version = version WHERE only = 0

-- EXTRA is FULL, and also syncs the folder after a rollback journal was removed, without which that commit is not durable.
-- 16 MiB of pages: a group of 1,000 keys at random touches 4 MB, which SQLite's 2 MB reads twice (1 million keys, a group
-- of 1,000: 15 ms of processor time for its rows, 10 ms so).

-- name: settings
PRAGMA synchronous = EXTRA;
PRAGMA cache_size = -16384;

-- name: journal_mode
PRAGMA journal_mode

-- name: journal_mode_wal
PRAGMA journal_mode = WAL

-- name: encoding
PRAGMA encoding

-- name: size_bytes
SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)

-- name: schema_installed
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'splitcount_schema'

-- name: schema_version
SELECT version FROM main.splitcount_schema

-- name: object_in_the_way
SELECT type, name FROM sqlite_schema WHERE lower(name) = ?1

-- name: slots_missing
SELECT {slots_number} - count(*) FROM main.{slots}

-- name: counters_left
SELECT count(*) FROM main.splitcount_counters

-- name: counters
SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout, {created_ms}, moved_to
FROM main.splitcount_counters ORDER BY name

-- name: counter
SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout, {created_ms}, moved_to
FROM main.splitcount_counters WHERE name = ?1

-- name: created_ms
CAST(round((julianday(created_at) - 2440587.5) * 86400000) AS INTEGER)

-- name: counter_is_current
SELECT version = ?2 AND {created_ms} = ?3 FROM main.splitcount_counters WHERE name = ?1

-- name: key_exists
SELECT EXISTS (SELECT 1 FROM main.{slots} WHERE {key} = ?1)

-- name: slot_read
SELECT n FROM main.{slots} WHERE {key_match}slot = ?2

-- name: slot_write
INSERT INTO main.{slots}({key_list}slot, n) VALUES ({key_parameter}?2, ?3)
ON CONFLICT ({key_list}slot) DO UPDATE SET n = excluded.n

-- name: request_read
SELECT {key_or_empty}, amount, slot FROM main.{requests}
WHERE request_id = ?2 AND (counted > {now_ms} - ?3) IS NOT FALSE

-- name: request_write
INSERT INTO main.{requests}(request_id, {key_list}amount, slot, counted)
VALUES (?2, {key_parameter}?3, ?4, {now_ms})
ON CONFLICT (request_id) DO UPDATE
SET {key_update}amount = excluded.amount, slot = excluded.slot, counted = excluded.counted

-- name: requests_purge
DELETE FROM main.{requests} WHERE request_id IN (
  SELECT request_id FROM main.{requests} WHERE counted <= {now_ms} - ?1 ORDER BY counted LIMIT ?2)

-- Totals come in two halves (see total_view), so that a total beyond 64 bits is seen here.

-- name: total
SELECT sum(n >> 32) + (sum(n & 4294967295) >> 32), sum(n & 4294967295) & 4294967295, count(*), {now_ms} FROM main.{slots}

-- name: total_of_key
SELECT sum(n >> 32) + (sum(n & 4294967295) >> 32), sum(n & 4294967295) & 4294967295, count(*), {now_ms} FROM main.{slots}
WHERE {key} = ?1

-- name: totals
SELECT coalesce(sum(n >> 32) + (sum(n & 4294967295) >> 32), 0), coalesce(sum(n & 4294967295) & 4294967295, 0),
       count(_slots.n), {now_ms}
FROM json_each(?1) AS _keys LEFT JOIN main.{slots} AS _slots ON _slots.{key} = _keys.value
GROUP BY _keys.key ORDER BY _keys.key

-- name: top
SELECT sum(n >> 32) + (sum(n & 4294967295) >> 32) AS _high, sum(n & 4294967295) & 4294967295 AS _low, count(*), {now_ms},
       {key}
FROM main.{slots} GROUP BY {key} ORDER BY _high DESC, _low DESC, {key} LIMIT ?1

-- name: slots
SELECT slot, n FROM main.{slots} ORDER BY slot

-- name: slots_of_key
SELECT slot, n FROM main.{slots} WHERE {key} = ?1 ORDER BY slot

-- name: keys
SELECT count(*) FROM (SELECT DISTINCT {key} FROM main.{slots})

-- name: stream_read
SELECT position, checkpoint FROM main.splitcount_streams WHERE stream = ?1

-- name: stream_write
INSERT INTO main.splitcount_streams(stream, position, checkpoint, updated_at)
VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
ON CONFLICT (stream) DO UPDATE
SET position = excluded.position, checkpoint = excluded.checkpoint, updated_at = excluded.updated_at

-- name: streams
SELECT stream, position, checkpoint FROM main.splitcount_streams
WHERE stream >= ?1 AND substr(stream, 1, length(?1)) = ?1 ORDER BY stream

-- name: stream_forget
DELETE FROM main.splitcount_streams WHERE stream = ?1

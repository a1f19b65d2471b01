-- What the library sends, in the database that the connection is in. A ? stands for a value.

-- Our own sessions: READ COMMITTED, whatever the server's default is, and errors instead of the nearest value.

-- name: session
SET SESSION sql_mode = '{sql_mode}', SESSION autocommit = 1, SESSION time_zone = '+00:00';
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED

-- name: sql_mode
STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO

-- Waits in whole seconds where the server knows no less. The last limit ends a transaction whose client has gone without
-- a word, so that it holds its locks no longer.

-- name: begin
SET SESSION innodb_lock_wait_timeout = {wait_s}, SESSION lock_wait_timeout = {wait_s}, SESSION max_statement_time = {wait_seconds},
  SESSION idle_transaction_timeout = {idle_s};
START TRANSACTION

-- name: go_on
START TRANSACTION

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: savepoint
SAVEPOINT splitcount_adds

-- name: savepoint_release
RELEASE SAVEPOINT splitcount_adds

-- name: savepoint_rollback
ROLLBACK TO SAVEPOINT splitcount_adds

-- One who defines or drops at a time. The lock is the session's, so it is given back by name.

-- name: lock_definitions
SELECT GET_LOCK(CONCAT('splitcount_define_', LEFT(SHA1(DATABASE()), 40)), {wait_s})

-- name: unlock_definitions
DO RELEASE_LOCK(CONCAT('splitcount_define_', LEFT(SHA1(DATABASE()), 40)))

-- name: in_transaction
SELECT @@in_transaction

-- name: server
SELECT DATABASE(), VERSION(), SCHEMA_NAME FROM (SELECT 1) AS _one
LEFT JOIN information_schema.SCHEMATA ON SCHEMA_NAME = DATABASE()

-- name: schema_tables
SELECT COUNT(*) FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('splitcount_schema', 'splitcount_counters') AND TABLE_TYPE = 'BASE TABLE'

-- name: schema_version
SELECT version FROM splitcount_schema

-- name: object_in_the_way
SELECT kind, name FROM (
  SELECT IF(TABLE_TYPE = 'VIEW', 'view', 'table') AS kind, TABLE_NAME AS name FROM information_schema.TABLES
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT <> 'splitcount: shared'
  UNION ALL SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME FROM information_schema.ROUTINES
  WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_COMMENT NOT LIKE 'splitcount: %'
) AS objects
WHERE BINARY name IN ({names}) ORDER BY name LIMIT 1

-- name: objects_there
SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND BINARY TABLE_NAME IN ({names})
UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND BINARY ROUTINE_NAME IN ({names})

-- name: slots_missing
SELECT {slots_number} - COUNT(*) FROM {slots}

-- name: counters_left
SELECT COUNT(*) FROM splitcount_counters WHERE ready

-- name: leftover
SELECT COUNT(*) FROM splitcount_counters WHERE name = {name} AND NOT ready

-- name: counters
SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout, {created_us}, moved_to
FROM splitcount_counters WHERE ready ORDER BY name

-- name: counter
SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout, {created_us}, moved_to
FROM splitcount_counters WHERE name = ? AND ready

-- name: created_us
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at)

-- name: now_us
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))

-- name: counter_is_current
SELECT version = ? AND {created_us} = ? FROM splitcount_counters WHERE name = ? AND ready

-- name: keys_there
SELECT COUNT(DISTINCT {key}) FROM {all} AS _all WHERE {key} IN ({keys})

-- name: add
CALL {add_one}({key_given}?, ?, NULL, ?, ?, ?)

-- name: total
SELECT SUM(n), COUNT(*), {now_us} FROM {rows} AS _rows

-- name: total_of_key
SELECT SUM(n), COUNT(*), {now_us} FROM {rows} AS _rows WHERE {key} = ?

-- name: totals
SELECT SUM(n), COUNT(*), {now_us}, {key} FROM {rows} AS _rows WHERE {key} IN ({keys}) GROUP BY {key}

-- name: top
SELECT SUM(n), COUNT(*), {now_us}, {key} FROM {rows} AS _rows GROUP BY {key} ORDER BY SUM(n) DESC, {key} LIMIT {rows_max}

-- name: slots
SELECT slot, n FROM {rows} AS _rows ORDER BY slot

-- name: slots_of_key
SELECT slot, n FROM {rows} AS _rows WHERE {key} = ? ORDER BY slot

-- name: keys
SELECT COUNT(DISTINCT {key}) FROM {rows} AS _rows

-- name: now
SELECT {now_us}

-- The row is written first and looked at only where it was not: another session may hold the stream.

-- name: stream_create
INSERT INTO splitcount_streams(stream, position, checkpoint, updated_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE splitcount_streams.position = splitcount_streams.position

-- name: stream_move
UPDATE splitcount_streams SET position = ?, checkpoint = ?, updated_at = UTC_TIMESTAMP(6) WHERE stream = ? AND position = ?

-- name: stream_read
SELECT position, checkpoint = ? FROM splitcount_streams WHERE stream = ?

-- name: streams
SELECT stream, position, checkpoint FROM splitcount_streams WHERE LEFT(stream, LENGTH(?)) = ? ORDER BY stream

-- name: stream_forget
DELETE FROM splitcount_streams WHERE stream = ?

-- name: status
SELECT VERSION(), (SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()),
       @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite, @@read_only, @@innodb_rollback_on_timeout, @@log_bin, @@sync_binlog

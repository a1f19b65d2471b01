-- What `inspect` shows: locks that are held, who waits for whom, and the pages that a key's slots lie on.

-- One session counts twice in one row, another time once in each of two; nothing of it is committed.

-- name: inspect_locks_create
CREATE TABLE one_row(n bigint NOT NULL);
INSERT INTO one_row VALUES (0);
CREATE TABLE two_slots(slot integer PRIMARY KEY, n bigint NOT NULL);
INSERT INTO two_slots VALUES (0, 0), (1, 0)

-- name: inspect_locks_one_row
BEGIN;
UPDATE one_row SET n = n + 1;
UPDATE one_row SET n = n + 1

-- name: inspect_locks_two_slots
BEGIN;
UPDATE two_slots SET n = n + 1 WHERE slot = 0;
UPDATE two_slots SET n = n + 1 WHERE slot = 1

-- name: inspect_locks_end
ROLLBACK

-- Row locks stand in the rows themselves and in no view. A row that another session finds locked is passed over.

-- name: inspect_locks_held
SELECT (SELECT pg_catalog.count(*) FROM {table})
     - (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM {table} FOR UPDATE SKIP LOCKED) AS _free)

-- Sessions that wait for another one, on a table of a counter. A waiter has the lock of the one row that it wants, or
-- waits for that; else its table is one that it has locked for writing.

-- name: inspect_waits
WITH _tables AS MATERIALIZED (
  SELECT t.oid, c.name, t.relname FROM {schema}.splitcount_counters AS c JOIN pg_catalog.pg_class AS t
  ON t.relname IN (c.name || '_slots', c.name || '_deltas', c.name || '_requests')
  WHERE t.relnamespace = (SELECT s.relnamespace FROM pg_catalog.pg_class AS s WHERE s.oid = c.tableoid)
), _locks AS MATERIALIZED (
  SELECT pid, database, locktype, relation, granted, waitstart FROM pg_catalog.pg_locks
), _waiting AS (
  SELECT pid, pg_catalog.min(waitstart) AS since FROM _locks WHERE NOT granted GROUP BY pid
), _on AS (
  SELECT DISTINCT ON (l.pid) l.pid, t.name, t.relname FROM _locks AS l JOIN _tables AS t ON t.oid = l.relation
  WHERE l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
  ORDER BY l.pid, l.granted, l.locktype <> 'tuple', t.relname
)
SELECT _waiting.pid, pg_catalog.array_to_string(pg_catalog.pg_blocking_pids(_waiting.pid), ','), _on.name, _on.relname,
       pg_catalog.to_char(_waiting.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       extract(epoch FROM pg_catalog.clock_timestamp() - _waiting.since), a.query
FROM _waiting JOIN _on USING (pid)
LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = _waiting.pid AND a.query <> '<insufficient privilege>'
WHERE pg_catalog.cardinality(pg_catalog.pg_blocking_pids(_waiting.pid)) > 0
ORDER BY _waiting.since, _waiting.pid

-- A row version is at (page, place). Compact, a slot takes its row in whole eights of bytes, four bytes of its page's
-- list, and its part of the 30 % that a page leaves free for the next versions (storage_compact).

-- name: inspect_pages
SELECT pg_catalog.count(*), pg_catalog.count(DISTINCT (ctid::text::point)[0]),
       pg_catalog.current_setting('block_size'),
       pg_catalog.pg_relation_size(pg_catalog.max(tableoid)),
       pg_catalog.pg_indexes_size(pg_catalog.max(tableoid)),
       coalesce(pg_catalog.ceil(pg_catalog.avg(
         (pg_catalog.ceil(pg_catalog.pg_column_size(ROW({key_list}slot, n)) / 8.0) * 8 + 4) / 0.7)), 0)
FROM {schema}.{counter}_slots {of_key}

-- name: inspect_of_key
WHERE {key} = $1

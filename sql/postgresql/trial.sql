-- Designs of counters that are tried against each other, all in the trial's own schema. $1 is the session's number, $2 a
-- number of chance, $3 the number of the add: 1, 2, 3 and so on over all sessions. An add is one statement, so one round
-- trip; {insert_first} inserts a row in it, too, or is empty.

-- name: trial_create
CREATE TABLE entries(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session bigint NOT NULL, what text NOT NULL)

-- name: trial_insert_first
WITH _ AS (INSERT INTO entries(session, what) VALUES ($1, 'a car'))

-- name: trial_insert_many_first
WITH _ AS (INSERT INTO entries(session, what) SELECT $1, 'a car' FROM generate_series(1, {adds}))

-- The rows are as many before each turn, so that what counts them has something to count.

-- name: trial_reset
TRUNCATE entries;
INSERT INTO entries(session, what) SELECT 0, 'a car' FROM generate_series(1, 10000)

-- name: trial_isolation
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {isolation}

-- name: trial_analyze
ANALYZE

-- Connections that this role can still open.

-- name: trial_sessions_left
SELECT least(
  pg_catalog.current_setting('max_connections')::integer - pg_catalog.current_setting('superuser_reserved_connections')::integer
    - coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::integer
    - (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend'),
  (SELECT CASE WHEN d.datconnlimit < 0 THEN 1000000 ELSE d.datconnlimit - (SELECT pg_catalog.count(*)
     FROM pg_catalog.pg_stat_activity AS a WHERE a.datid = d.oid AND a.backend_type = 'client backend') END
   FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()),
  (SELECT CASE WHEN r.rolconnlimit < 0 THEN 1000000 ELSE r.rolconnlimit - (SELECT pg_catalog.count(*)
     FROM pg_catalog.pg_stat_activity AS a WHERE a.usesysid = r.oid AND a.backend_type = 'client backend') END
   FROM pg_catalog.pg_roles AS r WHERE r.rolname = session_user))

-- name: trial_settings
SELECT name, pg_catalog.current_setting(name) FROM pg_catalog.pg_settings
WHERE name IN ('server_version', 'synchronous_commit', 'fsync', 'full_page_writes', 'wal_sync_method', 'shared_buffers',
               'max_connections', 'max_wal_size', 'jit')
ORDER BY name

-- name: trial_size
SELECT coalesce(sum(pg_catalog.pg_total_relation_size(c.oid)), 0) FROM pg_catalog.pg_class AS c
WHERE c.relnamespace = pg_catalog.to_regnamespace('splitcount_trial') AND c.relkind = 'r'
  AND pg_catalog.starts_with(c.relname, '{design}_')

-- Transactions that stay open after their add, as an application's do. A wait of a millisecond is an error in them.

-- name: trial_hold_begin
SET lock_timeout = 1

-- name: trial_hold
BEGIN

-- name: trial_release
COMMIT

-- name: trial_hold_end
SET lock_timeout = 0

-- name: limit_create
SELECT 1

-- name: limit_add
INSERT INTO entries(session, what) VALUES ($1, 'a car')

-- name: limit_total
SELECT count(*) FROM entries

-- name: count_rows_create
SELECT 1

-- name: count_rows_add
WITH _ AS (INSERT INTO entries(session, what) VALUES ($1, 'a car')) SELECT count(*) FROM entries

-- name: count_rows_total
SELECT count(*) FROM entries

-- name: one_row_create
CREATE TABLE {design}_count(n bigint NOT NULL) WITH (fillfactor = 50);
INSERT INTO {design}_count VALUES (0)

-- name: one_row_add
{insert_first} UPDATE {design}_count SET n = n + 1

-- name: one_row_total
SELECT n FROM {design}_count

-- PostgreSQL keeps no view on commit; what people write instead is a trigger.

-- name: trigger_create
CREATE TABLE trigger_entries(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session bigint NOT NULL, what text NOT NULL);
CREATE TABLE {design}_count(n bigint NOT NULL) WITH (fillfactor = 50);
INSERT INTO {design}_count VALUES (0);
CREATE FUNCTION {design}_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE {design}_count SET n = n + (SELECT count(*) FROM inserted);
  RETURN NULL;
END $$;
CREATE TRIGGER {design}_rows AFTER INSERT ON trigger_entries REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION {design}_rows()

-- name: trigger_add
INSERT INTO trigger_entries(session, what) VALUES ($1, 'a car')

-- name: trigger_total
SELECT n FROM {design}_count

-- name: random_rows_create
CREATE TABLE {design}_count(slot bigint PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50);
INSERT INTO {design}_count SELECT generate_series(0, {slots} - 1), 0

-- name: random_rows_add
{insert_first} UPDATE {design}_count SET n = n + 1 WHERE slot = $2 % {slots}

-- name: random_rows_total
SELECT sum(n) FROM {design}_count

-- name: counter_add
{insert_first} SELECT {design}_add()

-- name: counter_add_value
{insert_first} SELECT {design}_add(value => $3)

-- name: counter_add_once
{insert_first} SELECT {design}_add(request_id => gen_random_uuid()::text)

-- name: counter_add_batch
{insert_many_first} SELECT count({design}_add()) FROM generate_series(1, {adds})

-- name: counter_total
SELECT total FROM {design}

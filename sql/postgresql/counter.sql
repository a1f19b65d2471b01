-- The objects of one counter. Names within these statements that begin with _ cannot clash with a key column.
-- Numbers that repeat a limit: 768 bytes of a key, 128 of a request id, 1024 slots.

-- name: script_header
-- The counter {counter} for PostgreSQL 15 or newer: the same objects as `splitcount define` makes.
--
-- Run it in one transaction, so that a failure changes nothing:
--
--   psql --single-transaction --set ON_ERROR_STOP=1 --file THIS_FILE
--
-- It names its schema, {schema}, everywhere; for another one replace `{schema}.`, in small letters and with the dot, and the
-- name in the first GRANT below. A role that counts needs no more than
--
--   GRANT USAGE ON SCHEMA {schema} TO app;
--   GRANT EXECUTE ON FUNCTION {schema}.{add} TO app;
--   GRANT SELECT ON {schema}.{counter} TO app;
--
-- To count, in your own transaction: SELECT {add}({add_example});
-- To read: SELECT * FROM {counter};

-- name: script_begin
DO $script$
BEGIN
  IF pg_catalog.current_setting('server_encoding') <> 'UTF8'::text THEN
    RAISE EXCEPTION 'not_on_this_engine: this database stores text as %, and counters need one that stores UTF8',
      pg_catalog.current_setting('server_encoding') USING ERRCODE = 'feature_not_supported';
  END IF;
  PERFORM pg_catalog.pg_advisory_xact_lock(7392, 0);  -- one who defines or drops at a time
END $script$;

-- name: script_install
-- What all counters share; where it exists it stays as it is.

-- name: script_counter
-- The counter's own objects, then its rule.

-- name: slots_table
CREATE TABLE {schema}.{slots}(
  slot smallint PRIMARY KEY CHECK (slot BETWEEN 0 AND 1023),
  n bigint NOT NULL{filler}
) WITH ({storage});

-- name: slots_table_with_key
CREATE TABLE {schema}.{slots}(
  {key} text COLLATE "C" NOT NULL CHECK (octet_length({key}) BETWEEN 1 AND 768),
  slot smallint NOT NULL CHECK (slot BETWEEN 0 AND 1023),
  n bigint NOT NULL{filler},
  PRIMARY KEY ({key}, slot)
) WITH ({storage});

-- New versions of a row stay on its page while there is room, and dead ones are cleared away by whoever comes next, so
-- that a hot counter stays small; autovacuum comes early for what is left.

-- name: storage_compact
fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05

-- Each slot on a page of its own, and it stays there: a page that is filled to a tenth takes one row of this width, and
-- has room for the row's next versions.

-- name: storage_padded
fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05

-- name: filler_column
,
  _filler character(500) NOT NULL DEFAULT ''

-- name: filler_plain
ALTER TABLE {schema}.{slots} ALTER COLUMN _filler SET STORAGE PLAIN;

-- What a total is taken from.

-- name: slots_all
{schema}.{slots}

-- name: total_view
CREATE VIEW {schema}.{counter}(total) AS SELECT coalesce(sum(n), 0)::bigint FROM {all} AS _all;

-- name: total_view_with_key
CREATE VIEW {schema}.{counter}({key}, total) AS
SELECT {key}, sum(n)::bigint FROM {all} AS _all GROUP BY {key};

-- name: total_function
CREATE FUNCTION {schema}.{total}({key_argument}) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
SELECT coalesce(sum(n), 0)::bigint FROM {all} AS _all{where_first_argument}
$function$;
REVOKE ALL ON FUNCTION {schema}.{total}({key_type}) FROM PUBLIC;

-- name: where_first_argument
WHERE {key} = $1

-- Known request ids. counted: when, by this server's clock.

-- name: requests_table
CREATE TABLE {schema}.{requests}(
  request_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(request_id) BETWEEN 1 AND 128),
  {key_column}amount bigint NOT NULL,
  slot smallint NOT NULL,
  counted timestamptz NOT NULL
);

-- name: key_column
{key} text COLLATE "C" NOT NULL,

-- name: expiry_index
CREATE INDEX ON {schema}.{requests}(counted);

-- What `maintain` calls.

-- name: purge_function
CREATE FUNCTION {schema}.{purge_ids}() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  _purged bigint;
BEGIN
  {purge_maintained}
  GET DIAGNOSTICS _purged = ROW_COUNT;
  RETURN _purged;
END $function$;
REVOKE ALL ON FUNCTION {schema}.{purge_ids}() FROM PUBLIC;

-- name: purge_ids
SELECT {schema}.{purge_ids}()

-- name: drop_purge
DROP FUNCTION IF EXISTS {schema}.{purge_ids}();

-- name: rule_row
UPDATE {schema}.splitcount_schema SET rule_version = rule_version + 1;
INSERT INTO {schema}.splitcount_counters(name, version, key_column, slots, pick, missing, retries, window_seconds, layout)
VALUES ({name}, (SELECT rule_version FROM {schema}.splitcount_schema WHERE version = {schema_version}), {key_name},
        {slots_number}, {pick_word}, {missing_word}, {retries_word}, {window_number}, {layout_word});

-- name: create_slots
INSERT INTO {schema}.{slots}({key_list}slot, n)
SELECT {key_value}_slot, 0 FROM generate_series(0, {slots_number} - 1) AS _slot
ON CONFLICT DO NOTHING;

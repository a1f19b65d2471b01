-- What the library sends. Names carry their schema, since a caller's search_path is the caller's. The operands of each
-- operator and the arguments of each function have the very types that one of PostgreSQL's own takes: that one comes first,
-- while a better fit in another schema of the search_path would be called with the rights of whoever counts.

-- NULL within an array's text means NULL whatever the server's setting. The second limit ends a transaction whose client has gone without a word, so that it holds its locks no longer.

-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL array_nulls = on;
SET LOCAL lock_timeout = {wait_ms};
SET LOCAL idle_in_transaction_session_timeout = {idle_ms}

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

-- One who defines or drops at a time, until its transaction ends.

-- name: lock_definitions
SELECT pg_catalog.pg_advisory_xact_lock(7392, 0);

-- The first schema of the search_path that has counters; a lone table of one of the names is somebody else's.

-- name: schema_in_use
SELECT pg_catalog.quote_ident(n.nspname)
FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS _path(_name, _at)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = _name {shared_tables}
ORDER BY _at LIMIT 1

-- name: shared_tables
JOIN pg_catalog.pg_class AS s ON s.relnamespace = n.oid AND s.relname = 'splitcount_schema'::name AND s.relkind = 'r'::"char"
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'splitcount_counters'::name AND c.relkind = 'r'::"char"

-- Where it has none: another schema that this role can read has. Those of a trial are on their own.

-- name: schema_elsewhere
SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_namespace AS n {shared_tables}
WHERE n.nspname <> ALL (pg_catalog.current_schemas(false))  -- one there has been made since we looked
  AND n.nspname <> 'splitcount_trial'::name AND coalesce(pg_catalog.current_schema(), ''::name) <> 'splitcount_trial'::name
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(s.oid, 'SELECT')
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname LIMIT 1

-- name: schema_for_new
SELECT pg_catalog.quote_ident(pg_catalog.current_schema()), pg_catalog.current_setting('server_encoding'),
       pg_catalog.current_setting('server_version_num')::integer

-- name: schema_version
SELECT version FROM {schema}.splitcount_schema

-- name: object_in_the_way
SELECT kind, name FROM (
  SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind,
         c.relname AS name, c.relnamespace AS namespace FROM pg_catalog.pg_class AS c
  UNION ALL SELECT 'function', p.proname, p.pronamespace FROM pg_catalog.pg_proc AS p
  UNION ALL SELECT 'type', t.typname, t.typnamespace FROM pg_catalog.pg_type AS t
) AS objects
WHERE name = ANY ($1::text[]) AND namespace = pg_catalog.to_regnamespace($2)::oid
ORDER BY kind = 'type', name LIMIT 1

-- name: objects_missing
SELECT _name FROM pg_catalog.unnest($1::text[]) AS _names(_name)
WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c
                  WHERE c.relnamespace = pg_catalog.to_regnamespace($2)::oid AND c.relname = _name::name)
  AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_proc AS p
                  WHERE p.pronamespace = pg_catalog.to_regnamespace($2)::oid AND p.proname = _name::name)

-- name: slots_missing
SELECT {slots_number}::bigint - pg_catalog.count(*) FROM {schema}.{slots}

-- What the owner of a counter needs of the objects that all share, as far as this role lacks it.

-- name: rights_missing
SELECT _right, pg_catalog.quote_ident(current_user) FROM (VALUES
  ('SELECT, UPDATE ON ' || {schema_text} || '.splitcount_schema',
   pg_catalog.has_table_privilege({schema_text} || '.splitcount_schema', 'SELECT')
   AND pg_catalog.has_table_privilege({schema_text} || '.splitcount_schema', 'UPDATE')),
  ('SELECT, INSERT, DELETE ON ' || {schema_text} || '.splitcount_counters',
   pg_catalog.has_table_privilege({schema_text} || '.splitcount_counters', 'SELECT')
   AND pg_catalog.has_table_privilege({schema_text} || '.splitcount_counters', 'INSERT')
   AND pg_catalog.has_table_privilege({schema_text} || '.splitcount_counters', 'DELETE')),
  ('SELECT, DELETE ON ' || {schema_text} || '.splitcount_streams',
   pg_catalog.has_table_privilege({schema_text} || '.splitcount_streams', 'SELECT')
   AND pg_catalog.has_table_privilege({schema_text} || '.splitcount_streams', 'DELETE')),
  ('EXECUTE ON FUNCTION ' || {schema_text} || '.splitcount_refuse, ' || {schema_text} || '.splitcount_session, '
     || {schema_text} || '.splitcount_draw, ' || {schema_text} || '.splitcount_request_hash',
   pg_catalog.has_function_privilege({schema_text} || '.splitcount_refuse(text)', 'EXECUTE')
   AND pg_catalog.has_function_privilege({schema_text} || '.splitcount_session()', 'EXECUTE')
   AND pg_catalog.has_function_privilege({schema_text} || '.splitcount_draw()', 'EXECUTE')
   AND pg_catalog.has_function_privilege({schema_text} || '.splitcount_request_hash(text)', 'EXECUTE'))
) AS _rights(_right, _is_held) WHERE NOT _is_held

-- name: counters_left
SELECT pg_catalog.count(*) FROM {schema}.splitcount_counters

-- name: counters
SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout, {created_us}, moved_to
FROM {schema}.splitcount_counters ORDER BY name

-- name: counter
SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout, {created_us}, moved_to
FROM {schema}.splitcount_counters WHERE name = $1

-- name: created_us
(extract(epoch FROM created_at) * 1000000::numeric)::bigint

-- name: now_us
(extract(epoch FROM pg_catalog.statement_timestamp()) * 1000000::numeric)::bigint

-- name: counter_is_current
SELECT version = $2::bigint AND {created_us} = $3::bigint FROM {schema}.splitcount_counters WHERE name = $1

-- name: create_keys
WITH _keys AS (SELECT DISTINCT _key FROM unnest($1::text[]) AS _all(_key)),
_new AS (SELECT _key FROM _keys WHERE NOT EXISTS (SELECT 1 FROM {schema}.{slots} AS _s WHERE _s.{key} = _key) {not_in_deltas}),
_created AS (
  INSERT INTO {schema}.{slots}({key}, slot, n)
  SELECT _key, _slot, 0 FROM _keys, generate_series(0, {slots_number} - 1) AS _slot ORDER BY _key COLLATE "C", _slot
  ON CONFLICT DO NOTHING)
SELECT count(*) FROM _new

-- name: apply
SELECT item, slot, replay FROM {schema}.{add_many}($1::text[], $2::bigint[], $3::text[], $4::integer[], $5::bigint,
  'epoch'::timestamptz + interval '1 microsecond' * $6::bigint::double precision)

-- name: apply_one
SELECT {schema}.{add_one}({key_at_six}$1::bigint, $2, NULL, $3::integer, $4::bigint,
  'epoch'::timestamptz + interval '1 microsecond' * $5::bigint::double precision)

-- name: total
SELECT sum(n), count(*), {now_us} FROM {rows} AS _rows

-- name: total_of_key
SELECT sum(n), count(*), {now_us} FROM {rows} AS _rows WHERE {key} = $1

-- name: totals
SELECT coalesce(sum(_slots.n), 0), count(_slots.n), {now_us}
FROM unnest($1::text[]) WITH ORDINALITY AS _keys(_key, _at) LEFT JOIN {rows_of_keys} AS _slots ON _slots.{key} = _key
GROUP BY _at ORDER BY _at

-- name: top
SELECT sum(n), count(*), {now_us}, {key}
FROM {rows} AS _rows GROUP BY {key} ORDER BY sum(n) DESC, {key} LIMIT $1::bigint

-- name: slots
SELECT slot, n FROM {rows} AS _rows ORDER BY slot

-- name: slots_of_key
SELECT slot, n FROM {rows} AS _rows WHERE {key} = $1 ORDER BY slot

-- name: keys
SELECT count(*) FROM (SELECT DISTINCT {key} FROM {rows} AS _rows) AS _keys

-- The row is written first and looked at only where it was not: another session may hold the stream.

-- name: stream_create
INSERT INTO {schema}.splitcount_streams(stream, position, checkpoint, updated_at)
VALUES ($1, $2::bigint, $3, now()) ON CONFLICT DO NOTHING

-- name: stream_move
UPDATE {schema}.splitcount_streams SET position = $2::bigint, checkpoint = $3, updated_at = now()
WHERE stream = $1 AND position = $4::bigint

-- name: stream_read
SELECT position, checkpoint = $2 FROM {schema}.splitcount_streams WHERE stream = $1

-- name: streams
SELECT stream, position, encode(checkpoint, 'hex') FROM {schema}.splitcount_streams
WHERE starts_with(stream, $1) ORDER BY stream

-- name: stream_forget
DELETE FROM {schema}.splitcount_streams WHERE stream = $1

-- name: status
SELECT current_setting('server_version'), pg_database_size(current_database()), current_setting('synchronous_commit'),
       current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(),
       current_setting('default_transaction_read_only')

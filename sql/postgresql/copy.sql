-- What moves a counter to another database.

-- postmaster's start, to the microsecond, tells servers apart that were made as copies of each other.

-- name: identity
SELECT (extract(epoch FROM pg_catalog.pg_postmaster_start_time()) * 1000000::numeric)::bigint, oid
FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()

-- A closed counter has this trigger on each table that adds write. Making it waits for every transaction that has written
-- there, and one that waits behind it meets it: the triggers of a table are looked up when its lock has been had. Tables
-- come in the order in which an add takes them.

-- name: close_table
CREATE TRIGGER splitcount_closed BEFORE INSERT OR UPDATE OR DELETE ON {schema}.{table} FOR EACH STATEMENT
EXECUTE FUNCTION {schema}.splitcount_closed({sentence})

-- name: open_table
DROP TRIGGER IF EXISTS splitcount_closed ON {schema}.{table}

-- name: rule_moved
UPDATE {schema}.splitcount_schema SET rule_version = rule_version + 1;
UPDATE {schema}.splitcount_counters
SET version = (SELECT rule_version FROM {schema}.splitcount_schema), moved_to = {place} WHERE name = {name}

-- name: totals_after
SELECT sum(n), count(*), {now_us}, {key}
FROM {schema}.{slots} WHERE {key} > $1 GROUP BY {key} ORDER BY {key} LIMIT $2::bigint

-- Deltas have no index: those of the page's keys are looked for, and those between them.

-- name: totals_after_journal
WITH _page AS MATERIALIZED (
  SELECT {key} AS _key, sum(n) AS _n, count(*) AS _rows
  FROM {schema}.{slots} WHERE {key} > $1 GROUP BY {key} ORDER BY {key} LIMIT $2::bigint
), _end AS (
  SELECT max(_key) AS _last, count(*) < $2::bigint AS _is_last FROM _page
), _all AS (
  SELECT _key, _n, _rows FROM _page
  UNION ALL
  SELECT {key}, sum(n), count(*) FROM {schema}.{deltas} CROSS JOIN _end
  WHERE {key} > $1 AND (_is_last OR {key} <= _last) GROUP BY {key}
)
SELECT sum(_n), sum(_rows), {now_us}, _key FROM _all GROUP BY _key ORDER BY _key LIMIT $2::bigint

-- name: requests_after
SELECT request_id, {key_or_empty}, amount, (extract(epoch FROM counted) * 1000000::numeric)::bigint
FROM {schema}.{requests} WHERE request_id > $1{in_window} ORDER BY request_id LIMIT $2::bigint

-- name: in_window
AND counted > pg_catalog.statement_timestamp() - interval '{window_number} seconds'

-- The totals that are copied lie in slot 0, and so do these.

-- name: requests_copy
INSERT INTO {schema}.{requests} AS _r(request_id, {key_list}amount, slot, counted)
SELECT _id, {copied_key}_amount, 0, 'epoch'::timestamptz + interval '1 microsecond' * _counted::double precision
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS _ids(_id, _key, _amount, _counted) ORDER BY _id COLLATE "C"
ON CONFLICT (request_id) DO UPDATE
SET {copied_key_update}amount = excluded.amount, slot = excluded.slot, counted = excluded.counted
WHERE _r.counted < excluded.counted

-- name: copied
SELECT total FROM unnest($2::text[]) WITH ORDINALITY AS _keys(_key, _at)
LEFT JOIN {schema}.splitcount_copied ON counter = $1 AND key_text = _key ORDER BY _at

-- name: copied_write
INSERT INTO {schema}.splitcount_copied(counter, key_text, total)
SELECT $1::text, _key, _total FROM unnest($2::text[], $3::bigint[]) AS _rows(_key, _total) ORDER BY _key COLLATE "C"
ON CONFLICT (counter, key_text) DO UPDATE SET total = excluded.total

-- name: copied_forget
DELETE FROM {schema}.splitcount_copied WHERE counter = $1 AND key_text IN (
  SELECT key_text FROM {schema}.splitcount_copied WHERE counter = $1 LIMIT $2::bigint)

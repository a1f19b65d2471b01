-- What `doctor` asks a database that may never have heard of us. It only reads.

-- name: doctor_enter
SET default_transaction_read_only = on;
SET statement_timeout = '10s';
SET lock_timeout = '1s';
SET application_name = 'splitcount doctor'

-- What cannot be seen, a sentence each.

-- name: doctor_unseen
SELECT sentence FROM (VALUES
  (1, NOT pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE'),
   'what other users'' sessions run, which this role may not see; right is GRANT pg_read_all_stats TO '
     || pg_catalog.quote_ident(current_user)),
  (2, NOT pg_catalog.current_setting('track_counts')::boolean, 'how often tables are updated: track_counts is off'),
  (3, NOT pg_catalog.current_setting('track_activities')::boolean, 'what sessions run: track_activities is off'),
  (4, NOT EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'pg_stat_statements'),
   'how often each statement ran and how long it took: the extension pg_stat_statements is not in this database'),
  (5, pg_catalog.pg_is_in_recovery(), 'rows that are being updated: this is a standby, and they are updated on its primary')
) AS _all(place, is_so, sentence) WHERE is_so ORDER BY place

-- Updates of each table so far. Its rows by the statistics, which may know nothing: then 0. A table of ours is told by its
-- name beside our rules. Tables of a trial and of other sessions' own are left out.

-- name: doctor_tables
SELECT s.relid, s.schemaname, s.relname, pg_catalog.quote_ident(s.schemaname) || '.' || pg_catalog.quote_ident(s.relname),
       s.n_tup_upd, greatest(s.n_live_tup, c.reltuples::bigint, 0),
       (c.relname ~ '_(slots|deltas|requests|history)$' OR pg_catalog.starts_with(c.relname, 'splitcount_'))
         AND EXISTS (SELECT 1 FROM pg_catalog.pg_class AS _rules
                     WHERE _rules.relnamespace = c.relnamespace AND _rules.relname = 'splitcount_counters')
FROM pg_catalog.pg_stat_user_tables AS s JOIN pg_catalog.pg_class AS c ON c.oid = s.relid
WHERE c.relpersistence <> 't' AND s.schemaname <> 'splitcount_trial'

-- Live rows, counted as far as it takes to know whether they are few.

-- name: doctor_rows
SELECT pg_catalog.count(*) FROM (SELECT 1 FROM ONLY {table} LIMIT {most} + 1) AS _some

-- Sessions that wait for a row now: for the end of the transaction that holds it, or behind another one for the row's own
-- lock. Who found the row held has the row's lock; who found it changed as well has none, and then its table is that of
-- others who wait for the same transaction, or the only one that it writes.

-- name: doctor_waits
WITH _locks AS MATERIALIZED (
  SELECT pid, locktype, relation, page, tuple, transactionid, mode, granted FROM pg_catalog.pg_locks
  WHERE (locktype = 'transactionid' AND NOT granted) OR (locktype IN ('tuple', 'relation')
     AND database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()))
), _waits AS MATERIALIZED (
  SELECT w.pid, w.transactionid, r.relation, r.page, r.tuple
  FROM _locks AS w LEFT JOIN _locks AS r ON r.pid = w.pid AND r.locktype = 'tuple'
  WHERE NOT w.granted AND w.locktype IN ('transactionid', 'tuple')
), _known AS (
  SELECT transactionid, pg_catalog.min(relation) AS relation FROM _waits WHERE relation IS NOT NULL GROUP BY transactionid
), _only AS (
  SELECT l.pid, pg_catalog.min(l.relation) AS relation FROM _locks AS l
  JOIN pg_catalog.pg_class AS c ON c.oid = l.relation AND c.relkind = 'r'
  WHERE l.locktype = 'relation' AND l.granted AND l.mode = 'RowExclusiveLock' GROUP BY l.pid HAVING pg_catalog.count(*) = 1
)
SELECT coalesce(_waits.relation, _known.relation, _only.relation), _waits.page, _waits.tuple, _waits.transactionid, a.query
FROM _waits LEFT JOIN _known ON _known.transactionid = _waits.transactionid LEFT JOIN _only ON _only.pid = _waits.pid
LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = _waits.pid AND a.query <> '<insufficient privilege>'
WHERE coalesce(_waits.relation, _known.relation, _only.relation) IS NOT NULL

-- What sessions run, or ran within the last second.

-- name: doctor_running
SELECT query FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database() AND pid <> pg_catalog.pg_backend_pid() AND backend_type = 'client backend'
  AND query ~* '\mupdate\M' AND (state = 'active' OR state_change > pg_catalog.clock_timestamp() - interval '1 second')
LIMIT 100

-- name: doctor_columns
SELECT a.attname, t.typcategory = 'N' FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped

-- name: doctor_statements_schema
SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e
JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'

-- name: doctor_statements
SELECT pg_catalog.concat_ws(' ', userid, queryid, toplevel), calls, total_exec_time, query FROM {schema}.pg_stat_statements
WHERE dbid = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
  AND query ~* '\mupdate\M'
ORDER BY calls DESC LIMIT 5000

-- Functions, which triggers are made of, too.

-- name: doctor_bodies
SELECT p.proname, p.prosrc, 'function' FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.prosrc ~* '\mupdate\M' LIMIT 5000

-- What stands for the statement, for the sum, and how the count that is there is carried over.

-- name: doctor_add
SELECT {counter}_add({amount})

-- name: doctor_add_to_key
SELECT {counter}_add({value}::text{comma_amount})

-- name: doctor_read
SELECT total FROM {counter}

-- name: doctor_read_key
SELECT {counter}_total({value}::text)

-- name: doctor_carry
SELECT {counter}_add(amount => {column}::bigint) FROM {table}

-- name: doctor_carry_key
SELECT {counter}_add({key}::text, {column}::bigint) FROM {table}

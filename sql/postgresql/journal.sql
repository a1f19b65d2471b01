-- The layout journal. An add appends a row to {deltas} and writes nothing that another add writes, so adds neither wait
-- for each other nor conflict, at any isolation level. A fold moves deltas into their slots in bulk, in one transaction,
-- and a total is slots and deltas in one statement: so no snapshot sees the one without the other.
--
--   {slots}                            {deltas}
--   page    slot   n                   n   slot   page
--   /home   0      1604    <- fold -   1   0      /home
--   /about  0        12                1   0      /about
--                                      1   0      /home
--
-- Deltas have no index: each add would pay for it, and a fold goes by pages. A fold looks at so many pages at a time, from
-- the last one down, so that dead rows that an old snapshot keeps in the table cannot make its transaction long.
--
-- A slot that is more than half way to the end of 64 bits, and an amount beyond {amount_max}, are no matter for appending:
-- nobody would see the sum leave its range. Such an add is judged: it moves what its slot has pending and writes it there.

-- name: deltas_table
CREATE TABLE {schema}.{deltas}(
  n bigint NOT NULL,
  slot smallint NOT NULL{delta_key_column}
) WITH (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_insert_threshold = -1,
        autovacuum_vacuum_cost_delay = 0);

-- name: delta_key_column
,
  {key} text COLLATE "C" NOT NULL

-- What a total is taken from.

-- name: journal_all
(SELECT {key_list}slot, n FROM {schema}.{slots} UNION ALL SELECT {key_list}slot, n FROM {schema}.{deltas})

-- The same as rows of slots.

-- name: journal_rows
(SELECT {key_list}slot, sum(n) AS n FROM {all} AS _all GROUP BY {key_list}slot)

-- name: journal_rows_of_keys
(SELECT {key}, slot, sum(n) AS n FROM {all} AS _all WHERE {key} = ANY ($1::text[]) GROUP BY {key}, slot)

-- name: not_in_deltas
AND NOT EXISTS (SELECT 1 FROM {schema}.{deltas} AS _d WHERE _d.{key} = _key)

-- Nobody ever holds a slot, so every pick that wants a free one has slot 0.

-- name: fixed_zero
0

-- name: write_journal
DECLARE
    _at tid;
  BEGIN
    INSERT INTO {schema}.{deltas}({key_list}slot, n)
    SELECT {new_key}_slot, _amount {where_it_can_append} AND _amount BETWEEN -{amount_max} AND {amount_max}
    RETURNING ctid INTO _at;
    IF FOUND THEN
      {fold_if_due}
      RETURN {counted};
    END IF;
  END;
  {write_judged}

-- name: where_it_can_append_create
WHERE NOT EXISTS (SELECT 1 FROM {schema}.{slots} AS _s
                      WHERE {of_key}_s.slot = _slot AND _s.n NOT BETWEEN -{slot_max} AND {slot_max})

-- name: where_it_can_append_existing
FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot = _slot AND _s.n BETWEEN -{slot_max} AND {slot_max}

-- As a fold does it, and in its order: the lock of folds, deltas, the slot.

-- name: write_judged
DECLARE
    _sum numeric;
  BEGIN
    PERFORM pg_advisory_xact_lock({fold_lock});
    WITH _taken AS (DELETE FROM {schema}.{deltas} WHERE {key_match}slot = _slot RETURNING n)
    SELECT coalesce(sum(n), 0) + _amount INTO _sum FROM _taken;
    {create_judged}
    UPDATE {schema}.{slots}
    SET n = CASE WHEN n + _sum BETWEEN -9223372036854775808 AND 9223372036854775807 THEN (n + _sum)::bigint
                 ELSE {refuse}({sum_outside}) END
    WHERE {key_match}slot = _slot;
    IF NOT FOUND THEN
      {no_row}
    END IF;
  END;

-- name: create_judged
INSERT INTO {schema}.{slots}({key_list}slot, n) VALUES ({new_key}_slot, 0) ON CONFLICT DO NOTHING;

-- Adds of one slot become one delta. `_at`: of the last one that was appended.

-- name: write_many_journal
DECLARE
    _key text;
    _slot integer;
    _amount numeric;
    _at tid;
    _judged_keys text[];
    _judged_slots integer[];
    _judged_sums numeric[];
  BEGIN
    WITH _counting AS MATERIALIZED (
      SELECT _item::integer AS _item, {key_or_empty_of_add} AS _key, _amount, _slot FROM {counting_adds}
    ), _rows AS (
      SELECT _key, _slot, sum(_amount) AS _delta FROM _counting GROUP BY _key, _slot
    ), _appending AS MATERIALIZED (
      SELECT _key, _slot, _delta FROM _rows
      WHERE _delta BETWEEN -{amount_max} AND {amount_max} AND EXISTS (SELECT 1 {where_it_can_append})
    ), _appended AS (
      INSERT INTO {schema}.{deltas}({key_list}slot, n) SELECT {new_key}_slot, _delta::bigint FROM _appending RETURNING ctid
    ), _judged AS (
      SELECT _key, _slot, _delta FROM _rows
      WHERE NOT EXISTS (SELECT 1 FROM _appending AS _a WHERE _a._key = _rows._key AND _a._slot = _rows._slot)
    )
    SELECT (SELECT array_agg(_item) FROM _counting), (SELECT array_agg(_slot) FROM _counting),
           (SELECT array_agg(_key ORDER BY _key COLLATE "C", _slot) FROM _judged),
           (SELECT array_agg(_slot ORDER BY _key COLLATE "C", _slot) FROM _judged),
           (SELECT array_agg(_delta ORDER BY _key COLLATE "C", _slot) FROM _judged),
           (SELECT max(ctid) FROM _appended)
    INTO _items, _written, _judged_keys, _judged_slots, _judged_sums, _at;
    FOR _i IN 1..coalesce(array_length(_judged_keys, 1), 0) LOOP
      _key := _judged_keys[_i];
      _slot := _judged_slots[_i];
      _amount := _judged_sums[_i];
      {write_judged}
    END LOOP;
    {fold_if_due}
  END;

-- One add in {look_once_in} looks whether too much is pending, as the server's statistics have it, and folds the pages
-- around its own row where nobody else is folding. Above READ COMMITTED a fold could fail, and the add with it.

-- name: fold_if_due
IF random() * {look_once_in} < {adds_number} AND pg_stat_get_live_tuples({deltas_table_id}) > {deltas_max}
       AND current_setting('transaction_isolation') = 'read committed' AND pg_try_advisory_xact_lock({fold_lock}) THEN
      PERFORM {schema}.{fold}(split_part(ltrim(_at::text, '('), ',', 1)::bigint + 1, 0);
    END IF;

-- name: fold_lock
7393::bigint << 32 | {deltas_table_id}::oid::bigint

-- Moves deltas into their slots: those on the pages before `pages` (NULL: on all), from the last page down, until about
-- `milliseconds` have passed; pages_left is what to go on from. One session folds a counter at a time. What would take a
-- slot out of 64 bits stays a delta.

-- name: fold_function
CREATE FUNCTION {schema}.{fold}(pages bigint DEFAULT NULL, milliseconds integer DEFAULT {fold_ms_max})
RETURNS TABLE (folded bigint, pages_left bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '2s' AS $function$
#variable_conflict use_column
DECLARE
  _until CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 millisecond';
  _end bigint := pg_relation_size({deltas_table_id}) / current_setting('block_size')::integer;
  _begin bigint;
  _moved bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM {refuse}('invalid_argument: a fold runs at READ COMMITTED, where it cannot be in the way of an older snapshot');
  END IF;
  PERFORM pg_advisory_xact_lock({fold_lock});
  _end := least(_end, pages);
  folded := 0;
  WHILE _end > 0 LOOP
    _begin := greatest(_end - {fold_pages_max}, 0);
    WITH _taken AS (
      DELETE FROM {schema}.{deltas}
      WHERE ctid >= format('(%s,0)', _begin)::tid AND ctid < format('(%s,0)', _end)::tid
      RETURNING {key_list}slot, n
    ), _sums AS (
      SELECT {key_list}slot, sum(n)::bigint AS n FROM _taken GROUP BY {key_list}slot ORDER BY {key_order}slot
    ), _folded AS (
      INSERT INTO {schema}.{slots} AS _s({key_list}slot, n) SELECT {key_list}slot, n FROM _sums
      ON CONFLICT ({key_list}slot) DO UPDATE SET n = _s.n + excluded.n
      WHERE _s.n::numeric + excluded.n BETWEEN -9223372036854775808 AND 9223372036854775807
      RETURNING {key_list}slot
    ), _kept AS (
      INSERT INTO {schema}.{deltas}({key_list}slot, n)
      SELECT {key_list}slot, n FROM _sums WHERE ({key_list}slot) NOT IN (SELECT {key_list}slot FROM _folded)
    )
    SELECT count(*) INTO _moved FROM _taken;
    folded := folded + _moved;
    _end := _begin;
    EXIT WHEN clock_timestamp() >= _until;
  END LOOP;
  pages_left := _end;
  RETURN NEXT;
END $function$;
REVOKE ALL ON FUNCTION {schema}.{fold}(bigint, integer) FROM PUBLIC;

-- name: fold
SELECT folded, pages_left FROM {schema}.{fold}($1::bigint)

-- name: fold_all
SELECT folded, pages_left FROM {schema}.{fold}()

-- The counters whose journals this role may look at, those that it may not, and (NULL) those whose journals have gone.

-- name: journals
SELECT name, has_table_privilege(to_regclass({schema_text} || '.' || quote_ident(name || '_deltas')), 'SELECT')
FROM {schema}.splitcount_counters WHERE layout = 'journal' AND moved_to IS NULL ORDER BY name

-- name: is_overdue
SELECT count(*) > {deltas_overdue} FROM (SELECT 1 FROM {schema}.{deltas} LIMIT {deltas_overdue} + 1) AS _pending

-- name: drop_journal
DROP FUNCTION IF EXISTS {schema}.{fold}(bigint, integer);
DROP TABLE IF EXISTS {schema}.{deltas};

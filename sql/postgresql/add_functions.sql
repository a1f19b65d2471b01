-- The functions behind an add, and the fragments that they are put together from by the rule. They refuse what the
-- library refuses, with the same codes. The rule's numbers stand in them as constants: whoever writes a rule writes its
-- functions in the same transaction, since reading the rule on every add costs too much.
--
-- Ids come before slots, both in byte order, so that nothing within one call can deadlock. enable_seqscan is off since at
-- SERIALIZABLE a scan of a small table reads it as a whole, and then every two adds are in each other's way.

-- name: add_function
CREATE FUNCTION {schema}.{add}({key_parameter}amount bigint DEFAULT 1, request_id text DEFAULT NULL,
  value bigint DEFAULT NULL, slot integer DEFAULT NULL) RETURNS boolean
{add_body}
REVOKE ALL ON FUNCTION {schema}.{add}({add_types}) FROM PUBLIC;

-- The same for the library: it says the slot, and -1 minus the slot for a replay. NULL, and nothing is written, where the
-- rule in splitcount_counters is another one than the caller goes by (_rule_version, _rule_created).

-- name: add_one_function
CREATE FUNCTION {schema}.{add_one}({key_parameter}amount bigint, request_id text, value bigint, slot integer,
  _rule_version bigint, _rule_created timestamptz) RETURNS integer
{add_body}
REVOKE ALL ON FUNCTION {schema}.{add_one}({add_types}, bigint, timestamptz) FROM PUBLIC;

-- name: add_body
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off{lock_timeout} AS $function$
#variable_conflict use_column
DECLARE
  {declare_key}_amount CONSTANT bigint := amount;
  _id CONSTANT text := request_id;
  _value CONSTANT bigint := value;
  _slot integer := slot;
  _own integer;
BEGIN
  {check_rule}
  {check_key}
  {check_request_id}
  {check_value}
  IF _amount IS NULL THEN
    PERFORM {refuse}({amount_missing});
  END IF;
  IF _slot NOT BETWEEN 0 AND {slots_number} - 1 THEN
    PERFORM {refuse}({slot_outside});
  END IF;
  {choose}
  {claim}
  {write}
  RETURN {counted};
END $function$;

-- name: check_rule
IF NOT EXISTS (SELECT 1 FROM {schema}.splitcount_counters AS _c
                 WHERE _c.name = {name} AND _c.version = _rule_version AND _c.created_at = _rule_created) THEN
    RETURN NULL;
  END IF;

-- name: check_key
IF _key IS NULL OR octet_length(_key) NOT BETWEEN 1 AND 768 THEN
    PERFORM {refuse}({key_wrong});
  END IF;

-- name: check_request_id_count
IF _id IS NOT NULL THEN
    PERFORM {refuse}({id_refused});
  END IF;

-- name: check_request_id_once
IF octet_length(_id) NOT BETWEEN 1 AND 128 THEN
    PERFORM {refuse}({id_wrong});
  END IF;

-- name: check_value_needed
IF _value IS NOT NULL AND _slot IS NOT NULL THEN
    PERFORM {refuse}('value_invalid: an add carries a value or a slot, not both, since a value chooses the slot');
  ELSIF _value IS NULL AND _slot IS NULL THEN
    PERFORM {refuse}({value_missing});
  END IF;

-- name: check_value_unwanted
IF _value IS NOT NULL THEN
    PERFORM {refuse}('value_invalid: this counter does not pick its slot by a value; leave the value out');
  END IF;

-- The sentences that both functions say.

-- name: slot_outside
'slot_missing: this slot is outside the rule, which has slots 0 to ' || {slots_number} - 1

-- name: amount_missing
'amount_invalid: the amount is NULL; leave it out for 1'

-- name: key_wrong
'key_invalid: a key has 1 to 768 bytes'

-- name: id_refused
'request_id_refused: this counter counts every retry; leave the request id out'

-- name: id_wrong
'request_id_invalid: a request id has 1 to 128 bytes'

-- name: id_conflict
'request_conflict: this request id counted before with another key or amount'

-- name: id_in_flight
'request_in_flight: another session has this request id open; send it again'

-- name: value_missing
'value_invalid: this counter picks its slot by a value, and the add carries none'

-- name: sum_outside
'out_of_range: the add would take its slot out of signed 64 bits'

-- Picks that know their slot before they look at the slots. Without a request id there is no retry that would have to
-- meet its first try.

-- name: choose_fixed
_slot := coalesce(_slot, {fixed_slot});

-- name: fixed_random
({schema}.splitcount_draw() % {slots_number})::integer

-- name: fixed_request
(coalesce({schema}.splitcount_request_hash(_id), {schema}.splitcount_draw()) % {slots_number})::integer

-- name: fixed_value
(((_value % {slots_number}) + {slots_number}) % {slots_number})::integer

-- name: fixed_value_many
{refuse}({value_missing})::integer

-- Picks that take a slot that nobody holds: they begin with the session's own. Anybody may set the setting; what it says is
-- brought into the range of numbers.

-- name: choose_floating
_own := (coalesce(nullif(current_setting('splitcount.session', true), '')::integer, {schema}.splitcount_session()) & 1023) % {slots_number};

-- `slot =` and not `ctid =` uses what this finds: the row that is locked may be newer than the statement's snapshot.

-- name: try_own
SELECT _s.slot FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot = _own FOR NO KEY UPDATE SKIP LOCKED

-- name: try_zero
SELECT _s.slot FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot = 0 FOR NO KEY UPDATE SKIP LOCKED

-- name: try_any
SELECT _s.slot FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot < {slots_number}
    ORDER BY (_s.slot - _own + {slots_number}) % {slots_number} LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED

-- name: new_zero
(SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot = 0)),

-- A row that another open transaction creates is neither seen nor passed by: an INSERT waits for it. So whoever creates
-- one takes an advisory lock for it until the transaction ends, and leaves alone what somebody else has taken. There
-- are 1024 such locks for all keys together, so that a bulk transaction cannot fill the server's lock table.

-- name: new_slot
(SELECT _new FROM (SELECT (_own + _g) % {slots_number} AS _new FROM generate_series(0, {slots_number} - 1) AS _g) AS _in_order
    WHERE CASE WHEN EXISTS (SELECT 1 FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot = _new) THEN false
          ELSE pg_try_advisory_xact_lock(7393, ((hashtext({name}{and_key}) & 1023) + _new) & 1023) END LIMIT 1),

-- All are held: one of them has to be waited for, the own one where there is one.

-- name: wait_for
(SELECT _s.slot FROM {schema}.{slots} AS _s WHERE {of_key}_s.slot < {slots_number}
    ORDER BY (_s.slot - _own + {slots_number}) % {slots_number} LIMIT 1), _own

-- name: others_session
({try_any}),
    {new_slots}{wait_for}

-- name: others_spread
({try_own}), ({try_any}),
    {new_slots}{wait_for}

-- An id commits with its add. One that has expired counts anew, whether or not it is still there. Another session that
-- holds the same id open is waited for, no longer than the function's lock_timeout.

-- name: claim
IF _id IS NOT NULL THEN
    INSERT INTO {schema}.{requests} AS _r(request_id, {key_list}amount, slot, counted)
    VALUES (_id, {new_key}_amount, coalesce(_slot, {first_slot}), clock_timestamp())
    ON CONFLICT (request_id) {on_known};
    IF NOT FOUND THEN
      SELECT CASE WHEN {same_key}_r.amount = _amount THEN _r.slot ELSE {refuse}({id_conflict}) END INTO _slot
      FROM {schema}.{requests} AS _r WHERE _r.request_id = _id;
      IF NOT FOUND THEN
        PERFORM {refuse}({id_in_flight});
      END IF;
      RETURN {replayed};
    END IF;
    {purge}
  END IF;

-- name: on_known_for_ever
DO NOTHING

-- name: on_known_window
DO UPDATE SET {key_update}amount = excluded.amount, slot = excluded.slot, counted = excluded.counted
    WHERE _r.counted <= clock_timestamp() - interval '{window_number} seconds'

-- Each call with ids takes a few expired ones with it, so that their table stays bounded.

-- name: purge
DELETE FROM {schema}.{requests} WHERE request_id IN (
      SELECT request_id FROM {schema}.{requests} WHERE counted <= clock_timestamp() - interval '{window_number} seconds'
      ORDER BY counted LIMIT {purge_count} FOR UPDATE SKIP LOCKED);

-- n + amount, refused beyond 64 bits: greatest and least keep the bounds themselves inside.

-- name: sum
CASE WHEN {n} > 9223372036854775807 - greatest({amount}, 0) OR {n} < (-9223372036854775807 - 1) - least({amount}, 0)
         THEN {refuse}({sum_outside}) ELSE {n} + {amount} END

-- name: write_floating
IF _slot IS NULL THEN
    UPDATE {schema}.{slots} SET n = {sum_of_add} WHERE {key_match}slot = ({first_try});
    IF FOUND THEN
      RETURN {counted_first};
    END IF;
    _slot := coalesce({others});
    {note_slot}
  END IF;
  {write_fixed}

-- name: note_slot
UPDATE {schema}.{requests} SET slot = _slot WHERE request_id = _id AND slot <> _slot;

-- name: write_existing
UPDATE {schema}.{slots} SET n = {sum_of_add} WHERE {key_match}slot = _slot;
  IF NOT FOUND THEN
    {no_row}
  END IF;

-- name: write_create
UPDATE {schema}.{slots} SET n = {sum_of_add} WHERE {key_match}slot = _slot;
  IF NOT FOUND THEN
    INSERT INTO {schema}.{slots} AS _s({key_list}slot, n) VALUES ({new_key}_slot, _amount)
    ON CONFLICT ({key_list}slot) DO UPDATE SET n = {sum_of_excluded};
  END IF;

-- name: no_row
PERFORM {refuse}({no_slot});

-- name: no_row_with_key
PERFORM {refuse}(CASE WHEN EXISTS (SELECT 1 FROM {schema}.{slots} WHERE {key} = _key) THEN {no_slot} ELSE {no_key} END);

-- name: no_slot
'slot_missing: this slot has no row; missing is error, so define has to create it'

-- name: no_key
'key_missing: this key has no rows; missing is error, so define has to create them'

-- Many adds in one statement, all or nothing. One row comes back for each, and none at all where the rule in
-- splitcount_counters is another one than the caller goes by (_rule_version, _rule_created). Adds of one slot are merged,
-- and their sum has to lie within 64 bits. Rows are picked and written one after the other, in the order of their keys:
-- the query below OFFSET 0 hands them over one by one.

-- name: add_many_function
CREATE FUNCTION {schema}.{add_many}(keys text[], amounts bigint[], request_ids text[] DEFAULT NULL,
  slots integer[] DEFAULT NULL, _rule_version bigint DEFAULT NULL, _rule_created timestamptz DEFAULT NULL)
RETURNS TABLE (item integer, slot integer, replay boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off{lock_timeout} AS $function$
#variable_conflict use_column
DECLARE
  _keys CONSTANT text[] := keys;
  _amounts CONSTANT bigint[] := amounts;
  _ids CONSTANT text[] := request_ids;
  _slots integer[] := slots;
  _new_ids text[];
  _items integer[];
  _written integer[];
  _own integer;
  _refusal text;
BEGIN
  IF _rule_version IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM {schema}.splitcount_counters AS _c
    WHERE _c.name = {name} AND _c.version = _rule_version AND _c.created_at = _rule_created) THEN
    RETURN;
  END IF;
  SELECT _checked._why INTO _refusal FROM (
    SELECT _item, CASE
      {check_key_many}
      {check_request_id_many}
      WHEN _amount IS NULL THEN 'amount_invalid: an amount is NULL'
      WHEN _slot NOT BETWEEN 0 AND {slots_number} - 1 THEN {slot_outside} END AS _why
    FROM {adds}) AS _checked
  WHERE _checked._why IS NOT NULL ORDER BY _checked._item LIMIT 1;
  IF FOUND THEN
    PERFORM {refuse}(_refusal);
  END IF;
  {choose_many}
  {claim_many}
  {check_missing_many}
  {write_many}
  {note_slots_many}
  RETURN QUERY SELECT _item, _slot, false FROM unnest(_items, _written) AS _done(_item, _slot){replays};
END $function$;
REVOKE ALL ON FUNCTION {schema}.{add_many}(text[], bigint[], text[], integer[], bigint, timestamptz) FROM PUBLIC;

-- name: write_many_slots
WITH _counting AS MATERIALIZED (
    SELECT _item::integer AS _item, {key_or_empty_of_add} AS _key, _amount,
           coalesce(_slot, min(_slot) OVER (PARTITION BY {key_or_empty_of_add})) AS _given
    FROM {counting_adds}
  ), _rows AS (
    SELECT _key, _given, sum(_amount) AS _delta FROM _counting GROUP BY _key, _given
    ORDER BY _key COLLATE "C", _given OFFSET 0
  ), _rows_written AS (
    INSERT INTO {schema}.{slots} AS _s({key_list}slot, n)
    SELECT {new_key}{slot_of_row},
           CASE WHEN _delta BETWEEN -9223372036854775808 AND 9223372036854775807 THEN _delta::bigint
           ELSE {refuse}({sum_outside}) END
    FROM _rows
    ON CONFLICT ({key_list}slot) DO UPDATE SET n = {sum_of_excluded}
    RETURNING {key_or_empty_of_slot} AS _key, _s.slot::integer AS _slot
  )
  SELECT array_agg(_counting._item), array_agg(_rows_written._slot) INTO _items, _written
  FROM _counting JOIN _rows_written
    ON _rows_written._key = _counting._key AND _rows_written._slot = coalesce(_counting._given, _rows_written._slot);

-- name: adds
unnest(_keys, _amounts, _ids, _slots) WITH ORDINALITY AS _adds(_key, _amount, _id, _slot, _item)

-- name: check_key_many
WHEN _key IS NULL OR octet_length(_key) NOT BETWEEN 1 AND 768 THEN {key_wrong}

-- name: check_no_key_many
WHEN _key IS NOT NULL THEN 'key_invalid: this counter has no key; leave the keys out'

-- name: check_request_id_count_many
WHEN _id IS NOT NULL THEN {id_refused}

-- name: check_request_id_once_many
WHEN octet_length(_id) NOT BETWEEN 1 AND 128 THEN {id_wrong}

-- name: choose_fixed_many
SELECT array_agg(coalesce(_slot, {fixed_slot_many}) ORDER BY _item) INTO _slots FROM {adds};

-- name: claim_many
IF EXISTS (SELECT 1 FROM unnest(_ids) AS _given(_id) WHERE _id IS NOT NULL) THEN
    WITH _new AS (
      INSERT INTO {schema}.{requests} AS _r(request_id, {key_list}amount, slot, counted)
      SELECT _id, {new_key}_amount, coalesce(_slot, {first_slot}), clock_timestamp()
      FROM (SELECT DISTINCT ON (_id COLLATE "C") _key, _amount, _id, _slot FROM {adds} WHERE _id IS NOT NULL
            ORDER BY _id COLLATE "C", _item) AS _firsts
      ON CONFLICT (request_id) {on_known} RETURNING _r.request_id)
    SELECT array_agg(request_id) INTO _new_ids FROM _new;
    PERFORM CASE WHEN _r.request_id IS NULL THEN {refuse}({id_in_flight})
                 WHEN {same_key_many}_r.amount = _adds._amount THEN 0 ELSE {refuse}({id_conflict}) END
    FROM {adds} LEFT JOIN {schema}.{requests} AS _r ON _r.request_id = _adds._id WHERE _adds._id IS NOT NULL;
    {purge_many}
  END IF;

-- name: check_missing_many
SELECT {no_row_many} INTO _refusal FROM {adds}
  WHERE NOT EXISTS (SELECT 1 FROM {schema}.{slots} AS _s WHERE {of_key_many}_s.slot = coalesce(_adds._slot, _s.slot))
  ORDER BY _item LIMIT 1;
  IF FOUND THEN
    PERFORM {refuse}(_refusal);
  END IF;

-- name: no_row_with_key_many
CASE WHEN EXISTS (SELECT 1 FROM {schema}.{slots} WHERE {key} = _adds._key) THEN {no_slot} ELSE {no_key} END

-- Of the adds of one id the first counts, where the id is new.

-- name: counting_adds_once
(SELECT _key, _amount, _id, _slot, _item, row_number() OVER (PARTITION BY _id ORDER BY _item) AS _nth FROM {adds}) AS _adds
    LEFT JOIN unnest(_new_ids) AS _new(_new_id) ON _new_id = _id
    WHERE _id IS NULL OR (_new_id IS NOT NULL AND _nth = 1)

-- name: note_slots_many
UPDATE {schema}.{requests} AS _r SET slot = _done._slot
  FROM unnest(_items, _written) AS _done(_item, _slot) JOIN {adds} ON _adds._item = _done._item
  WHERE _r.request_id = _adds._id AND _r.slot <> _done._slot;

-- name: replays
UNION ALL
    SELECT _adds._item::integer, _r.slot::integer, true
    FROM {adds} JOIN {schema}.{requests} AS _r ON _r.request_id = _adds._id
    LEFT JOIN unnest(_items) AS _done(_item) ON _done._item = _adds._item WHERE _done._item IS NULL

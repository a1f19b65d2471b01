-- The trigger behind INSERT INTO {add}, and the fragments that it is put together from by the rule. It refuses what the
-- library refuses, with the same codes at the front of its messages, and reads the rule where the library reads it.
--
-- An INSERT OR IGNORE or OR REPLACE of the caller takes the place of the conflict handling inside a trigger, but neither
-- of ON CONFLICT (...) DO UPDATE nor of RAISE(ABORT): so these two are used, and changes() is looked at after each write.

-- name: add_trigger
CREATE TRIGGER {add} INSTEAD OF INSERT ON {add}
BEGIN
  SELECT CASE
    {check_key}
    {check_request_id}
    WHEN typeof(NEW.amount) NOT IN ('integer', 'null') THEN
      RAISE(ABORT, 'amount_invalid: an amount is an integer within signed 64 bits, not a text, a blob or a real')
    {check_value}
    WHEN _rule.name IS NULL THEN
      RAISE(ABORT, 'unknown_counter: this counter has no rule in splitcount_counters')
    WHEN NEW.slot IS NOT NULL AND (typeof(NEW.slot) <> 'integer' OR NEW.slot NOT BETWEEN 0 AND _rule.slots - 1) THEN
      RAISE(ABORT, 'slot_missing: this slot is no integer within the rule in splitcount_counters, which has slots 0 to slots - 1')
  END
  FROM (SELECT 1) LEFT JOIN splitcount_counters AS _rule ON _rule.name = {name};
  {claim}
  {write}
END;

-- name: check_key
WHEN typeof(NEW.{key}) <> 'text' THEN
      RAISE(ABORT, 'key_invalid: a key is a text, not a number, a blob or NULL')
    WHEN length(CAST(NEW.{key} AS BLOB)) NOT BETWEEN 1 AND 768 THEN
      RAISE(ABORT, 'key_invalid: a key has 1 to 768 bytes')
    WHEN instr(CAST(NEW.{key} AS BLOB), x'00') > 0 THEN
      RAISE(ABORT, 'key_invalid: a key holds no zero byte')
    WHEN {key_not_utf8} THEN
      RAISE(ABORT, 'key_invalid: a key is UTF-8')

-- name: check_request_id_count
WHEN NEW.request_id IS NOT NULL THEN
      RAISE(ABORT, 'request_id_refused: this counter counts every retry; leave the request id out')

-- name: check_request_id_once
WHEN typeof(NEW.request_id) NOT IN ('text', 'null') THEN
      RAISE(ABORT, 'request_id_invalid: a request id is a text, not a number or a blob')
    WHEN length(CAST(NEW.request_id AS BLOB)) NOT BETWEEN 1 AND 128 THEN
      RAISE(ABORT, 'request_id_invalid: a request id has 1 to 128 bytes')
    WHEN instr(CAST(NEW.request_id AS BLOB), x'00') > 0 THEN
      RAISE(ABORT, 'request_id_invalid: a request id holds no zero byte')
    WHEN {request_id_not_utf8} THEN
      RAISE(ABORT, 'request_id_invalid: a request id is UTF-8')

-- ASCII is seen by one GLOB. Else each character is read and written again, which gives the same bytes only where they
-- are UTF-8; U+FFFE and U+FFFF are legal, but unicode() reads them as U+FFFD, so an x stands in for them.

-- name: not_utf8
{text} GLOB '*[^' || char(1) || '-' || char(127) || ']*' AND EXISTS (
      WITH RECURSIVE _at(_text, _i) AS (
        SELECT replace(replace({text}, char(65534), 'x'), char(65535), 'x'), 1
        UNION ALL SELECT _text, _i + 1 FROM _at WHERE _i < length(_text))
      SELECT 1 FROM _at WHERE char(unicode(substr(_text, _i, 1))) <> substr(_text, _i, 1))

-- name: check_value_needed
WHEN NEW.value IS NOT NULL AND NEW.slot IS NOT NULL THEN
      RAISE(ABORT, 'value_invalid: an add carries a value or a slot, not both, since a value chooses the slot')
    WHEN NEW.slot IS NULL AND typeof(NEW.value) <> 'integer' THEN
      RAISE(ABORT, 'value_invalid: this counter picks its slot by a value, an integer, and the add carries none that is one')

-- name: check_value_unwanted
WHEN NEW.value IS NOT NULL THEN
      RAISE(ABORT, 'value_invalid: this counter does not pick its slot by a value; leave the value out')

-- The picks, each one draw a row. Without a request id there is no retry that would have to meet its first try.

-- name: pick_first
0

-- name: pick_random
(SELECT abs(random() % slots) FROM splitcount_counters WHERE name = {name})

-- name: pick_value
(SELECT (NEW.value % slots + slots) % slots FROM splitcount_counters WHERE name = {name})

-- FNV-1a, 32 bits, over the bytes of the id; a xor b is a + b - 2 * (a & b).

-- name: pick_request
(SELECT CASE WHEN NEW.request_id IS NULL THEN abs(random() % slots) ELSE _hash % slots END
    FROM splitcount_counters, (
      WITH RECURSIVE _fnv(_rest, _hash) AS (
        SELECT hex(NEW.request_id), 2166136261
        UNION ALL
        SELECT substr(_rest, 3), ((_hash + {byte} - 2 * (_hash & {byte})) * 16777619) & 4294967295
        FROM _fnv WHERE _rest <> '')
      SELECT _hash FROM _fnv WHERE _rest = '')
    WHERE name = {name})

-- name: byte
(16 * instr('123456789ABCDEF', substr(_rest, 1, 1)) + instr('123456789ABCDEF', substr(_rest, 2, 1)))

-- name: slot_count
coalesce(NEW.slot, {pick})

-- name: slot_once
coalesce((SELECT slot FROM {requests} WHERE request_id = NEW.request_id), NEW.slot, {pick})

-- name: now_ms
CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)

-- A replay passes silently. An id that has expired counts anew, whether or not it is still there.

-- name: claim
SELECT CASE WHEN {new_key_match}amount = coalesce(NEW.amount, 1) THEN RAISE(IGNORE)
              ELSE RAISE(ABORT, 'request_conflict: this request id counted before with another key or amount') END
  FROM {requests}
  WHERE request_id = NEW.request_id
    AND (counted > {now_ms} - 1000 * (SELECT window_seconds FROM splitcount_counters WHERE name = {name})) IS NOT FALSE;
  INSERT INTO {requests}(request_id, {key_list}amount, slot, counted)
  SELECT NEW.request_id, {new_key}coalesce(NEW.amount, 1), coalesce(NEW.slot, {pick}), {now_ms}
  WHERE NEW.request_id IS NOT NULL
  ON CONFLICT (request_id) DO UPDATE
  SET {key_update}amount = excluded.amount, slot = excluded.slot, counted = excluded.counted;
  SELECT RAISE(ABORT, 'internal: the request id was not stored')
  WHERE NEW.request_id IS NOT NULL AND changes() <> 1;
  {purge}

-- Each new id takes up to two expired ones with it, so that the table stays bounded.

-- name: purge
DELETE FROM {requests} WHERE NEW.request_id IS NOT NULL AND request_id IN (
    SELECT request_id FROM {requests}
    WHERE counted <= {now_ms} - 1000 * (SELECT window_seconds FROM splitcount_counters WHERE name = {name})
    ORDER BY counted LIMIT 2);

-- n + amount beyond 64 bits would become a real number, and -2^63 - 1 one that is stored as -2^63: so it is looked at.

-- name: write_create
INSERT INTO {slots}({key_list}slot, n)
  SELECT {new_key}{slot}, coalesce(NEW.amount, 1) WHERE true
  ON CONFLICT ({key_list}slot) DO UPDATE
  SET n = CASE typeof(n + excluded.n) WHEN 'integer' THEN n + excluded.n
          ELSE RAISE(ABORT, 'out_of_range: the add would take its slot out of signed 64 bits') END;
  SELECT RAISE(ABORT, 'internal: the add did not change exactly one row') WHERE changes() <> 1;

-- name: write_existing
UPDATE {slots}
  SET n = CASE typeof(n + coalesce(NEW.amount, 1)) WHEN 'integer' THEN n + coalesce(NEW.amount, 1)
          ELSE RAISE(ABORT, 'out_of_range: the add would take its slot out of signed 64 bits') END
  WHERE {new_key_match}slot = (SELECT {slot});
  SELECT {no_row} WHERE changes() <> 1;

-- name: no_row
RAISE(ABORT, 'slot_missing: this slot has no row; missing is error, so define has to create it')

-- name: no_row_with_key
CASE WHEN EXISTS (SELECT 1 FROM {slots} WHERE {key} = NEW.{key}) THEN
      RAISE(ABORT, 'slot_missing: this slot of the key has no row; missing is error, so define has to create it')
    ELSE RAISE(ABORT, 'key_missing: this key has no rows; missing is error, so define has to create them') END

-- The procedures behind an add, and the fragments that they are put together from by the rule. They refuse what the
-- library refuses, with the same codes: SQLSTATE SC and the code's number. The rule's numbers stand in them as constants:
-- whoever writes a rule writes its procedures too, since reading the rule on every add costs too much.
--
-- Arguments come as text that is a little longer than what is right, since MariaDB fits an argument into its type by the
-- caller's sql_mode: a number that does not fit would be the nearest one, and a long key a shorter one. Here the sql_mode
-- is the routine's own. Column names are qualified, since a parameter's name would win.
--
-- What is only looked at is looked at by SELECT ... INTO: within IF or SET InnoDB locks the rows of a SELECT, above READ
-- COMMITTED. A statement that fails takes back only itself, so a call of several statements marks its place first.

-- name: add_procedure
{procedure_begin}CREATE PROCEDURE {add}({key_parameter}IN amount {digits}, IN request_id {id_text},
  IN value {digits}, IN slot {digits}, OUT counted BOOLEAN)
MODIFIES SQL DATA SQL SECURITY DEFINER
{add_body}{procedure_end}

-- The same for the library: one row says the slot, and -1 minus the slot for a replay; NULL, and nothing is written,
-- where the rule in splitcount_counters is another one than the caller goes by (_rule_version, _rule_created).

-- name: add_one_procedure
{procedure_begin}CREATE PROCEDURE {add_one}({key_parameter}IN amount {digits}, IN request_id {id_text},
  IN value {digits}, IN slot {digits}, IN _rule_version BIGINT, IN _rule_created BIGINT)
MODIFIES SQL DATA SQL SECURITY DEFINER
{add_body}{procedure_end}

-- name: digits
VARCHAR(21) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin

-- name: id_text
VARCHAR(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin

-- name: key_text
VARCHAR(769) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin

-- name: add_body
adding: BEGIN
  DECLARE _alone BOOLEAN DEFAULT @@autocommit AND NOT @@in_transaction;
  {declare_key}DECLARE _id VARBINARY(516) DEFAULT request_id;
  DECLARE _amount, _value BIGINT;
  DECLARE _slot, _own, _tried, _found INT;
  DECLARE _replay, _held, _marked BOOLEAN DEFAULT FALSE;
  DECLARE EXIT HANDLER FOR SQLSTATE '22003'
  BEGIN
    {take_back}
    SIGNAL SQLSTATE 'SC015' SET MESSAGE_TEXT = {sum_outside};
  END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    {take_back}
    RESIGNAL;
  END;
  {check_key}
  {check_rule}
  {check_request_id}
  {check_amount}
  {check_value}
  {check_slot}
  IF _alone THEN
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
  END IF;
  writing: BEGIN
    {choose}
    {claim}
    {write}
  END;
  IF _alone THEN
    COMMIT;
  END IF;
  {answer}
END

-- The transaction may have gone, as after a deadlock, and the mark with it.

-- name: take_back
BEGIN
      DECLARE CONTINUE HANDLER FOR 1305 BEGIN END;
      IF _alone THEN
        ROLLBACK;
      ELSEIF _marked THEN
        ROLLBACK TO SAVEPOINT splitcount_add;
      END IF;
    END;

-- name: answer_counted
SET counted = NOT _replay;

-- name: answer_slot
SELECT IF(_replay, -1 - _slot, _slot);

-- name: check_rule
SELECT COUNT(*) INTO _found FROM splitcount_counters AS _c WHERE _c.name = {name} AND _c.version = _rule_version
    AND _c.created_at = TIMESTAMPADD(MICROSECOND, _rule_created, '1970-01-01') AND _c.ready;
  IF NOT _found THEN
    SELECT NULL;
    LEAVE adding;
  END IF;

-- What is no UTF-8 has become a question mark on its way, with a warning, where the caller's sql_mode is not strict.
-- MariaDB takes halves of surrogate pairs (ED A0 80 to ED BF BF) for letters, and nobody else does.

-- name: check_key
IF _key IS NULL OR LENGTH(_key) NOT BETWEEN 1 AND 768 OR LOCATE('\0', _key) > 0 THEN
    SIGNAL SQLSTATE 'SC004' SET MESSAGE_TEXT = {key_wrong};
  END IF;
  IF LOCATE('?', _key) > 0 THEN
    {refuse_mangled}
  END IF;
  IF LOCATE(x'ed', _key) > 0 AND _key REGEXP CONCAT(x'ed', '[', x'a0', '-', x'bf', ']') THEN
    SIGNAL SQLSTATE 'SC004' SET MESSAGE_TEXT = 'key_invalid: a key is UTF-8';
  END IF;

-- name: refuse_mangled
BEGIN
      DECLARE _warnings, _code, _at INT DEFAULT 0;
      GET DIAGNOSTICS _warnings = NUMBER;
      WHILE _at < _warnings DO
        SET _at = _at + 1;
        GET DIAGNOSTICS CONDITION _at _code = MYSQL_ERRNO;
        IF _code = 1366 THEN
          SIGNAL SQLSTATE 'SC004' SET MESSAGE_TEXT = 'key_invalid: a key is UTF-8';
        END IF;
      END WHILE;
    END;

-- name: check_request_id_count
IF _id IS NOT NULL THEN
    SIGNAL SQLSTATE 'SC016' SET MESSAGE_TEXT = 'request_id_refused: this counter counts every retry; leave the request id out (NULL)';
  END IF;

-- name: check_request_id_once
IF LENGTH(_id) NOT BETWEEN 1 AND 128 OR LOCATE('\0', _id) > 0 THEN
    SIGNAL SQLSTATE 'SC007' SET MESSAGE_TEXT = 'request_id_invalid: a request id has 1 to 128 bytes and no zero byte';
  END IF;

-- name: check_amount
IF amount IS NULL THEN
    SIGNAL SQLSTATE 'SC002' SET MESSAGE_TEXT = 'amount_invalid: the amount is NULL; 1 counts one';
  END IF;
  {number_of_amount}

-- Only digits give back what they were: no blanks, no plus, no fraction, nothing beyond 64 bits.

-- name: number_of
BEGIN
    DECLARE CONTINUE HANDLER FOR 1264, 1292, 1366, 1916 SET {number} = NULL;
    SET {number} = CAST({argument} AS SIGNED);
    IF NOT COALESCE(CONVERT({number}, CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin = {argument}, FALSE) THEN
      SIGNAL SQLSTATE {state} SET MESSAGE_TEXT = {sentence};
    END IF;
  END;

-- name: check_slot
IF slot IS NOT NULL THEN
    {number_of_slot}
    IF _slot NOT BETWEEN 0 AND {slots_number} - 1 THEN
      SIGNAL SQLSTATE 'SC014' SET MESSAGE_TEXT = {slot_outside};
    END IF;
  END IF;

-- name: check_value_needed
IF value IS NOT NULL AND slot IS NOT NULL THEN
    SIGNAL SQLSTATE 'SC003' SET MESSAGE_TEXT = 'value_invalid: an add carries a value or a slot, not both, since a value chooses the slot';
  ELSEIF value IS NOT NULL THEN
    {number_of_value}
  ELSEIF slot IS NULL THEN
    SIGNAL SQLSTATE 'SC003' SET MESSAGE_TEXT = 'value_invalid: this counter picks its slot by a value, and the add carries none';
  END IF;

-- name: check_value_unwanted
IF value IS NOT NULL THEN
    SIGNAL SQLSTATE 'SC003' SET MESSAGE_TEXT = 'value_invalid: this counter does not pick its slot by a value; leave the value out (NULL)';
  END IF;

-- The sentences.

-- name: slot_outside
'slot_missing: this slot is outside the rule, which has slots 0 to {slot_last}'

-- name: amount_wrong
'amount_invalid: an amount is a whole number of digits within signed 64 bits'

-- name: value_wrong
'value_invalid: a value is a whole number of digits within signed 64 bits'

-- name: key_wrong
'key_invalid: a key has 1 to 768 bytes and no zero byte'

-- name: sum_outside
'out_of_range: the add would take its slot out of signed 64 bits'

-- Picks that know their slot before they look at the slots. Without a request id there is no retry that would have to
-- meet its first try.

-- name: choose_fixed
IF _slot IS NULL THEN
      {fixed_slot}
    END IF;

-- name: fixed_random
SET _slot = FLOOR(RAND() * {slots_number});

-- FNV-1a, 32 bits, over the bytes of the id.

-- name: fixed_request
BEGIN
        DECLARE _hash BIGINT UNSIGNED DEFAULT 2166136261;
        DECLARE _at INT DEFAULT 1;
        IF _id IS NULL THEN
          SET _hash = FLOOR(RAND() * 4294967296);
        END IF;
        WHILE _at <= LENGTH(_id) DO
          SET _hash = ((_hash ^ ORD(SUBSTRING(_id, _at, 1))) * 16777619) & 4294967295;
          SET _at = _at + 1;
        END WHILE;
        SET _slot = _hash % {slots_number};
      END;

-- name: fixed_value
SET _slot = ((_value % {slots_number}) + {slots_number}) % {slots_number};

-- name: fixed_zero
SET _slot = 0;

-- Picks that take a slot that nobody holds: they begin with the session's own. Anybody may set the variable; what it says
-- is brought into the range of numbers.

-- name: choose_floating
IF _slot IS NULL THEN
      IF @splitcount_session IS NULL THEN
        CALL splitcount_session();
      END IF;
      SET _own = (CAST(@splitcount_session AS SIGNED) & 1023) % {slots_number};
    END IF;

-- An id commits with its add. One that has expired counts anew, whether or not it is still there. Where another session
-- holds it open, whoever waits does so one at a time, under a user lock: of several that wait, InnoDB would end all but one
-- when the row is rolled back, and their transactions with them.

-- name: claim
IF _id IS NOT NULL THEN
      SAVEPOINT splitcount_add;
      SET _marked = TRUE, @splitcount_known = FALSE;
      {claim_at_once}
      IF @splitcount_known THEN
        {judge_known}
      END IF;
      {purge}
    END IF;

-- name: claim_at_once
BEGIN
        DECLARE CONTINUE HANDLER FOR 1205 SET _held = TRUE;
        SET STATEMENT innodb_lock_wait_timeout = 0 FOR {claim_id};
      END;
      IF _held THEN
        {claim_in_turn}
      END IF;

-- The row is locked where it was there before, so it stays as it is read. How many rows have changed says nothing here:
-- clients that ask for found rows (CLIENT_FOUND_ROWS, as many do by default) get other numbers.

-- name: claim_id
INSERT INTO {requests}({key_list}request_id, amount, slot, counted)
        VALUES ({new_key}_id, _amount, COALESCE(_slot, {first_slot}), UTC_TIMESTAMP(6))
        ON DUPLICATE KEY UPDATE {on_known}

-- name: on_known_for_ever
{requests}.slot = IF(@splitcount_known := TRUE, {requests}.slot, NULL)

-- The time is written last: the assignments are made in this order.

-- name: on_known_window
{key_update}{requests}.amount = IF({expired}, _amount, {requests}.amount),
          {requests}.slot = IF(@splitcount_known := NOT {expired}, {requests}.slot, COALESCE(_slot, {first_slot})),
          {requests}.counted = IF({expired}, UTC_TIMESTAMP(6), {requests}.counted)

-- name: key_update
{requests}.{key} = IF({expired}, _key, {requests}.{key}),

-- name: expired
({requests}.counted <= UTC_TIMESTAMP(6) - INTERVAL {window_number} SECOND)

-- name: claim_in_turn
BEGIN
          DECLARE EXIT HANDLER FOR 1205
          BEGIN
            DO RELEASE_LOCK({turn});
            SIGNAL SQLSTATE 'SC018' SET MESSAGE_TEXT = {id_in_flight};
          END;
          DECLARE EXIT HANDLER FOR SQLEXCEPTION
          BEGIN
            DO RELEASE_LOCK({turn});
            RESIGNAL;
          END;
          IF NOT COALESCE(GET_LOCK({turn}, {turn_seconds}), FALSE) THEN
            SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205;
          END IF;
          SET STATEMENT innodb_lock_wait_timeout = {turn_seconds} FOR {claim_id};
          DO RELEASE_LOCK({turn});
        END;

-- Who waits for a row that is rolled back is left with a lock on the place where it was, and two such would keep each other
-- from making theirs, also where these are different rows. So one session at a time waits for anything new of a counter.

-- name: turn
CONCAT('splitcount_new_', LEFT(SHA1(CONCAT(DATABASE(), ' ', {name})), 40))

-- name: id_in_flight
'request_in_flight: another session has this request id open; send it again'

-- name: judge_known
BEGIN
          DECLARE _is_same BOOLEAN;
          SELECT _r.slot, {same_key}_r.amount = _amount INTO _slot, _is_same FROM {requests} AS _r
          WHERE _r.request_id = _id FOR UPDATE;
          IF NOT COALESCE(_is_same, FALSE) THEN
            SIGNAL SQLSTATE 'SC017' SET MESSAGE_TEXT = 'request_conflict: this request id counted before with another key or amount';
          END IF;
          SET _replay = TRUE;
          LEAVE writing;
        END;

-- One add with an id in {purge_once_in} takes some expired ones with it, more than have come meanwhile, so that their table stays
-- bounded. They are looked for without a lock and removed one by one, since a range that is locked keeps others from adding theirs above READ COMMITTED.

-- name: purge
IF RAND() * {purge_once_in} < 1 AND @@tx_isolation <> 'SERIALIZABLE' THEN
        BEGIN
          DECLARE _old VARBINARY(128);
          DECLARE _purged INT DEFAULT 0;
          DECLARE CONTINUE HANDLER FOR 1205, NOT FOUND BEGIN END;
          WHILE _purged < {purge_count} DO
            SET _old = NULL, _purged = _purged + 1;
            SELECT _r.request_id INTO _old FROM {requests} AS _r WHERE {expired_r} ORDER BY _r.counted LIMIT 1;
            IF _old IS NULL THEN
              SET _purged = {purge_count};
            ELSE
              SET STATEMENT innodb_lock_wait_timeout = 0 FOR DELETE FROM {requests} WHERE request_id = _old AND {expired};
            END IF;
          END WHILE;
        END;
      END IF;

-- name: expired_r
(_r.counted <= UTC_TIMESTAMP(6) - INTERVAL {window_number} SECOND)

-- The slot that was tried is written where it is free. MariaDB has no UPDATE that passes by what is locked, so the wait is
-- set to none: error 1205. Where the server rolls the whole transaction back at that error (innodb_rollback_on_timeout),
-- nothing is tried, and the first slot is waited for.

-- name: write_floating
IF _slot IS NULL THEN
      SET _tried = IF(@@innodb_rollback_on_timeout, {slots_number}, {first_try});
      WHILE _tried < {slots_number} DO
        SET _slot = IF(_tried < 0, 0, (_own + _tried) % {slots_number}), _tried = _tried + 1, _held = FALSE;
        {write_at_once}
        IF NOT _held THEN
          {look_for_row}
          {note_slot}
          LEAVE writing;
        END IF;
      END WHILE;
      SET _slot = _own;
    END IF;
    {write_fixed}

-- name: write_at_once
BEGIN
          DECLARE CONTINUE HANDLER FOR 1205 SET _held = TRUE;
          SET STATEMENT innodb_lock_wait_timeout = 0 FOR {write_row};
        END;

-- name: note_slot
IF _id IS NOT NULL AND _slot <> {first_slot} THEN
            UPDATE {requests} AS _r SET _r.slot = _slot WHERE _r.request_id = _id AND _r.slot <> _slot;
          END IF;

-- name: write_existing
{write_row};
    {look_for_row}
    {note_slot}

-- A row that another transaction is making is waited for one session at a time, as an id is.

-- name: write_create
SET _held = @@innodb_rollback_on_timeout;
    IF NOT _held THEN
      {write_at_once}
    END IF;
    IF _held THEN
      SELECT COUNT(*) INTO _found FROM {slots} AS _s WHERE {of_key}_s.slot = _slot;
      IF _found THEN
        {write_row};
      ELSE
        {write_in_turn}
      END IF;
    END IF;
    {note_slot}

-- name: write_in_turn
BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
          DO RELEASE_LOCK({turn});
          RESIGNAL;
        END;
        IF NOT COALESCE(GET_LOCK({turn}, LEAST(@@innodb_lock_wait_timeout, 10)), FALSE) THEN
          SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'others are making rows of this counter in transactions that are still open';
        END IF;
        {write_row};
        DO RELEASE_LOCK({turn});
      END;

-- name: write_row_existing
UPDATE {slots} AS _s SET _s.n = _s.n + _amount WHERE {of_key}_s.slot = _slot

-- name: write_row_create
INSERT INTO {slots}({key_list}slot, n) VALUES ({new_key}_slot, _amount) ON DUPLICATE KEY UPDATE {slots}.n = {slots}.n + _amount

-- A row that an amount of 0 left as it was is not counted as changed.

-- name: look_for_row
IF ROW_COUNT() = 0 THEN
            SELECT COUNT(*) INTO _found FROM {slots} AS _s WHERE {of_key}_s.slot = _slot;
            IF NOT _found THEN
              {no_row}
            END IF;
          END IF;

-- name: no_row
SIGNAL SQLSTATE 'SC014' SET MESSAGE_TEXT = {no_slot};

-- name: no_row_with_key
SELECT COUNT(*) INTO _found FROM {slots} AS _s WHERE _s.{key} = _key;
                IF _found THEN
                  SIGNAL SQLSTATE 'SC014' SET MESSAGE_TEXT = {no_slot};
                END IF;
                SIGNAL SQLSTATE 'SC013' SET MESSAGE_TEXT = 'key_missing: this key has no rows; missing is error, so define has to create them';

-- name: no_slot
'slot_missing: this slot has no row; missing is error, so define has to create it'

-- The layout journal. An add appends a row to {deltas} and writes nothing that another add writes, so adds neither wait
-- for each other nor conflict, at any isolation level. A fold moves deltas into their slots in bulk, in one transaction,
-- and a total is slots and deltas in one statement: so no snapshot sees the one without the other.
--
-- Deltas are numbered, since rows without a primary key are looked for one by one on a replica. The number is no matter of
-- the caller's, whose LAST_INSERT_ID() stays what it was.
--
-- A slot that is more than half way to the end of 64 bits, and an amount beyond {amount_max}, are no matter for appending:
-- nobody would see the sum leave its range. Such an add is judged, and written to its slot.

-- name: deltas_table
CREATE TABLE {deltas}(
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  n BIGINT NOT NULL,
  slot SMALLINT NOT NULL{delta_key_column}
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC

-- name: delta_key_column
,
  {key} VARBINARY(768) NOT NULL

-- What a total is taken from.

-- name: journal_all
(SELECT {key_list}slot, n FROM {slots} UNION ALL SELECT {key_list}slot, n FROM {deltas})

-- The same as rows of slots.

-- name: journal_rows
(SELECT {key_list}slot, SUM(n) AS n FROM {all} AS _all GROUP BY {key_list}slot)

-- name: write_journal
IF _amount BETWEEN -{amount_max} AND {amount_max} THEN
      SELECT COUNT(*) INTO _found FROM {slots} AS _s WHERE {of_key}_s.slot = _slot AND _s.n {not_if_create}BETWEEN -{slot_max} AND {slot_max};
      IF {can_append} THEN
        {append}
        {fold_if_due}
        LEAVE writing;
      END IF;
    END IF;
    {write_judged}

-- name: append
BEGIN
          DECLARE _callers BIGINT UNSIGNED DEFAULT LAST_INSERT_ID();
          INSERT INTO {deltas}({key_list}slot, n) VALUES ({new_key}_slot, _amount);
          SET _callers = LAST_INSERT_ID(_callers);
        END;

-- With what is pending for the slot as this transaction sees it: at READ COMMITTED, where the slot is locked before, that
-- is all of it.

-- name: write_judged
BEGIN
      DECLARE _sum DECIMAL(30) DEFAULT NULL;
      IF NOT _marked THEN
        SAVEPOINT splitcount_add;
        SET _marked = TRUE;
      END IF;
      {create_judged}
      SELECT _s.n INTO _sum FROM {slots} AS _s WHERE {of_key}_s.slot = _slot FOR UPDATE;
      IF _sum IS NULL THEN
        {no_row}
      END IF;
      SELECT _sum + COALESCE(SUM(_s.n), 0) INTO _sum FROM {deltas} AS _s WHERE {of_key}_s.slot = _slot;
      IF _sum + _amount NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
        SIGNAL SQLSTATE '22003';
      END IF;
      UPDATE {slots} AS _s SET _s.n = _s.n + _amount WHERE {of_key}_s.slot = _slot;
    END;

-- name: create_judged
INSERT INTO {slots}({key_list}slot, n) VALUES ({new_key}_slot, 0) ON DUPLICATE KEY UPDATE {slots}.n = {slots}.n;

-- One add in {look_once_in} looks whether too much is pending, and folds a piece of it. Above READ COMMITTED a fold would
-- keep others from appending until the caller's transaction ends.

-- name: fold_if_due
IF RAND() * {look_once_in} < 1 AND (_alone OR @@tx_isolation = 'READ-COMMITTED') THEN
          SELECT MAX(id) - MIN(id) INTO _found FROM {deltas};
          IF _found > {deltas_max} THEN
            CALL {fold}(NULL, 0, @splitcount_folded, @splitcount_left);
          END IF;
        END IF;

-- Moves deltas into their slots: those up to the number `upto` (NULL: all), from the last one down, until about
-- `milliseconds` have passed (NULL: {fold_ms_max}); upto_left is what to go on from, 0 where nothing is left. Deltas of open
-- transactions are passed by. One session folds a counter at a time: several would deadlock over its slots; where the first has
-- not ended in {turn_seconds} s (at once, for 0 milliseconds), another one folds nothing. Deltas of a slot that is more than half way to the end of 64 bits stay deltas.

-- name: fold_procedure
{procedure_begin}CREATE PROCEDURE {fold}(IN upto BIGINT UNSIGNED, IN milliseconds INT, OUT folded BIGINT, OUT upto_left BIGINT UNSIGNED)
MODIFIES SQL DATA SQL SECURITY DEFINER
whole: BEGIN
  DECLARE _alone BOOLEAN DEFAULT @@autocommit AND NOT @@in_transaction;
  DECLARE _until DATETIME(6) DEFAULT SYSDATE(6) + INTERVAL COALESCE(milliseconds, {fold_ms_max}) * 1000 MICROSECOND;
  DECLARE _upto BIGINT UNSIGNED DEFAULT COALESCE(upto, 9223372036854775807);
  DECLARE _taken, _first BIGINT UNSIGNED;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    DO RELEASE_LOCK({turn_of_fold});
    IF _alone THEN
      ROLLBACK;
    END IF;
    RESIGNAL;
  END;
  SET folded = 0, upto_left = 0;
  IF NOT _alone AND @@tx_isolation <> 'READ-COMMITTED' THEN
    SIGNAL SQLSTATE 'SC001' SET MESSAGE_TEXT = 'invalid_argument: a fold runs at READ COMMITTED, or alone: above it keeps others from appending';
  END IF;
  IF NOT COALESCE(GET_LOCK({turn_of_fold}, IF(milliseconds = 0, 0, {turn_seconds})), FALSE) THEN
    IF milliseconds = 0 THEN
      LEAVE whole;
    END IF;
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'another session is folding this counter';
  END IF;
  IF _alone THEN
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION;
  END IF;
  CREATE TEMPORARY TABLE IF NOT EXISTS splitcount_folding(id BIGINT UNSIGNED NOT NULL PRIMARY KEY, _key VARBINARY(768) NOT NULL,
    slot SMALLINT NOT NULL, n BIGINT NOT NULL) ENGINE = InnoDB;
  folding: LOOP
    DELETE FROM splitcount_folding;
    INSERT INTO splitcount_folding(id, _key, slot, n)
    SELECT _d.id, {delta_key}, _d.slot, _d.n FROM {deltas} AS _d
    WHERE _d.id <= _upto
      AND NOT EXISTS (SELECT 1 FROM {slots} AS _s WHERE {of_delta}_s.slot = _d.slot AND _s.n NOT BETWEEN -{slot_max} AND {slot_max})
    ORDER BY _d.id DESC LIMIT {fold_deltas_max} FOR UPDATE SKIP LOCKED;
    SELECT COUNT(*), MIN(id) INTO _taken, _first FROM splitcount_folding;
    IF _taken > 0 THEN
      INSERT INTO {slots}({key_list}slot, n)
      SELECT {new_key}slot, SUM(n) FROM splitcount_folding GROUP BY _key, slot ORDER BY _key, slot
      ON DUPLICATE KEY UPDATE {slots}.n = {slots}.n + VALUES(n);
      DELETE _d FROM {deltas} AS _d JOIN splitcount_folding AS _f ON _f.id = _d.id;
      SET folded = folded + _taken;
    END IF;
    SET _upto = IF(_taken < {fold_deltas_max}, 0, _first - 1);
    IF _upto = 0 OR SYSDATE(6) >= _until THEN
      LEAVE folding;
    END IF;
  END LOOP;
  SET upto_left = _upto;
  IF _alone THEN
    COMMIT;
  END IF;
  DO RELEASE_LOCK({turn_of_fold});
END{procedure_end}

-- name: turn_of_fold
CONCAT('splitcount_fold_', LEFT(SHA1(CONCAT(DATABASE(), ' ', {name})), 40))

-- name: fold
CALL {fold}(?, NULL, @splitcount_folded, @splitcount_left);
SELECT @splitcount_folded, @splitcount_left

-- Of the counters with a journal.

-- name: is_overdue
SELECT COUNT(*) > {deltas_overdue} FROM (SELECT 1 FROM {deltas} LIMIT {deltas_overdue_and_one}) AS _pending

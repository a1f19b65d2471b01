-- Designs of counters that are tried against each other, all in the trial's own database. ?1 is the session's number, ?2 a
-- number of chance, ?3 the number of the add: 1, 2, 3 and so on over all sessions. An add is one text, so one round trip;
-- {insert_first} begins a transaction and inserts a row in it, and {insert_last} commits it. Without them the add is a
-- transaction of its own, or part of the one that is open.

-- name: trial_create
CREATE TABLE entries(id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, session BIGINT NOT NULL, what TEXT NOT NULL) ENGINE = InnoDB

-- name: trial_insert_first
START TRANSACTION;
INSERT INTO entries(session, what) VALUES (?1, 'a car');

-- name: trial_insert_many_first
START TRANSACTION;
INSERT INTO entries(session, what)
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {adds}) SELECT ?1, 'a car' FROM numbers;

-- name: trial_insert_last
;
COMMIT

-- The rows are as many before each turn, so that what counts them has something to count.

-- name: trial_reset
TRUNCATE TABLE entries;
INSERT INTO entries(session, what)
WITH ten(n) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))
SELECT 0, 'a car' FROM ten AS a CROSS JOIN ten AS b CROSS JOIN ten AS c CROSS JOIN ten AS d

-- name: trial_isolation
SET SESSION TRANSACTION ISOLATION LEVEL {isolation}

-- InnoDB looks after its statistics itself.

-- name: trial_analyze
SELECT 1

-- Connections that this account can still open. Without the right PROCESS it sees its own.

-- name: trial_sessions_left
SELECT LEAST(
  @@max_connections - (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'THREADS_CONNECTED'),
  IF(@@max_user_connections = 0, 1000000, @@max_user_connections - (SELECT COUNT(*) FROM information_schema.PROCESSLIST
     WHERE USER = SUBSTRING_INDEX(USER(), '@', 1)))) DIV 1

-- What the server has for everybody; the trial's sessions have the isolation level that its answer names.

-- name: trial_settings
SELECT LOWER(VARIABLE_NAME) AS name, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES
WHERE VARIABLE_NAME IN ('VERSION', 'INNODB_FLUSH_LOG_AT_TRX_COMMIT', 'INNODB_DOUBLEWRITE', 'INNODB_FLUSH_METHOD', 'SYNC_BINLOG',
                        'LOG_BIN', 'BINLOG_FORMAT', 'INNODB_BUFFER_POOL_SIZE', 'INNODB_LOG_FILE_SIZE', 'MAX_CONNECTIONS',
                        'TX_ISOLATION', 'INNODB_SNAPSHOT_ISOLATION', 'INNODB_DEADLOCK_DETECT', 'INNODB_ROLLBACK_ON_TIMEOUT',
                        'INNODB_AUTOINC_LOCK_MODE', 'THREAD_HANDLING')
ORDER BY name

-- The sizes that MariaDB tells are those of its statistics, so these are taken anew.

-- name: trial_size
BEGIN NOT ATOMIC
  DECLARE _tables TEXT;
  SELECT GROUP_CONCAT('`', TABLE_NAME, '`') INTO _tables FROM information_schema.TABLES
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND LEFT(TABLE_NAME, LENGTH('{design}_')) = '{design}_';
  IF _tables IS NOT NULL THEN
    EXECUTE IMMEDIATE CONCAT('ANALYZE NO_WRITE_TO_BINLOG TABLE ', _tables);
  END IF;
END;
SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND LEFT(TABLE_NAME, LENGTH('{design}_')) = '{design}_'

-- Transactions that stay open after their add, as an application's do. Any wait is an error in them.

-- name: trial_hold_begin
SET SESSION innodb_lock_wait_timeout = 0

-- name: trial_hold
START TRANSACTION

-- name: trial_release
COMMIT

-- name: trial_hold_end
SET SESSION innodb_lock_wait_timeout = 50

-- name: limit_create
SELECT 1

-- name: limit_add
INSERT INTO entries(session, what) VALUES (?1, 'a car')

-- name: limit_total
SELECT COUNT(*) FROM entries

-- name: count_rows_create
SELECT 1

-- name: count_rows_add
INSERT INTO entries(session, what) VALUES (?1, 'a car');
SELECT COUNT(*) FROM entries

-- name: count_rows_total
SELECT COUNT(*) FROM entries

-- name: one_row_create
CREATE TABLE {design}_count(one_row TINYINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL) ENGINE = InnoDB;
INSERT INTO {design}_count VALUES (1, 0)

-- name: one_row_add
{insert_first}
UPDATE {design}_count SET n = n + 1 WHERE one_row = 1{insert_last}

-- name: one_row_total
SELECT n FROM {design}_count

-- MariaDB keeps no view on commit; what people write instead is a trigger.

-- name: trigger_create
CREATE TABLE trigger_entries(id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, session BIGINT NOT NULL, what TEXT NOT NULL) ENGINE = InnoDB;
CREATE TABLE {design}_count(one_row TINYINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL) ENGINE = InnoDB;
INSERT INTO {design}_count VALUES (1, 0);
CREATE TRIGGER {design}_rows AFTER INSERT ON trigger_entries FOR EACH ROW UPDATE {design}_count SET n = n + 1 WHERE one_row = 1

-- name: trigger_add
INSERT INTO trigger_entries(session, what) VALUES (?1, 'a car')

-- name: trigger_total
SELECT n FROM {design}_count

-- name: random_rows_create
CREATE TABLE {design}_count(slot BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL) ENGINE = InnoDB;
INSERT INTO {design}_count
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {slots}) SELECT n, 0 FROM numbers

-- name: random_rows_add
{insert_first}
UPDATE {design}_count SET n = n + 1 WHERE slot = ?2 % {slots}{insert_last}

-- name: random_rows_total
SELECT SUM(n) FROM {design}_count

-- name: counter_add
{insert_first}
CALL {design}_add(1, NULL, NULL, NULL, @counted){insert_last}

-- name: counter_add_value
{insert_first}
CALL {design}_add(1, NULL, ?3, NULL, @counted){insert_last}

-- Ids that lie apart from each other, as an application's own do.

-- name: counter_add_once
{insert_first}
CALL {design}_add(1, MD5(UUID()), NULL, NULL, @counted){insert_last}

-- name: counter_add_batch
{insert_many_first}
BEGIN NOT ATOMIC
  DECLARE _alone BOOLEAN DEFAULT NOT @@in_transaction;
  DECLARE _left INT DEFAULT {adds};
  IF _alone THEN
    START TRANSACTION;
  END IF;
  WHILE _left > 0 DO
    CALL {design}_add(1, NULL, NULL, NULL, @counted);
    SET _left = _left - 1;
  END WHILE;
  IF _alone THEN
    COMMIT;
  END IF;
END{insert_last}

-- name: counter_total
SELECT total FROM {design}

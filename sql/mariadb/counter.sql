-- The objects of one counter. Names within these statements that begin with _ cannot clash with a key column.
-- Numbers that repeat a limit: 768 bytes of a key, 128 of a request id, 1024 slots. A key is kept as its bytes (VARBINARY),
-- since utf8mb4_bin takes 'ab' and 'ab ' for equal.

-- name: script_header
-- The counter {counter} for MariaDB 10.6 or newer: the same objects as `splitcount define` makes.
--
-- Run it in the database where it shall count, with the client that comes with MariaDB, which stops at the first error:
--
--   mariadb DATABASE < THIS_FILE
--
-- MariaDB commits after each CREATE. Where something fails, drop what was created before and run it again:
--   {object_list}
-- The counter counts when its row in splitcount_counters is there, which comes last.
--
-- A role that counts needs no more than
--
--   GRANT EXECUTE ON PROCEDURE {add} TO app;
--   GRANT SELECT ON {counter} TO app;
--
-- To count, in your own transaction: CALL {add}({add_example}, @counted);
-- To read: SELECT * FROM {counter};

-- name: script_begin
SET NAMES utf8mb4;
SET @splitcount_sql_mode = @@SESSION.sql_mode;
-- Routines keep it: what does not fit is an error, whatever the caller's is.
SET SESSION sql_mode = '{sql_mode}';

-- name: script_install
-- What all counters share; where it exists it stays as it is.

-- name: script_check
{procedure_begin}BEGIN NOT ATOMIC
  IF NOT EXISTS (SELECT 1 FROM splitcount_schema WHERE version = {schema_version}) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'schema_too_new: this database was written by another version of splitcount than this script';
  END IF;
END{procedure_end}

-- name: script_counter
-- The counter's own objects, then its rule.

-- name: script_end
SET SESSION sql_mode = @splitcount_sql_mode;

-- name: slots_table
CREATE TABLE {slots}(
  slot SMALLINT NOT NULL PRIMARY KEY CHECK (slot BETWEEN 0 AND 1023),
  n BIGINT NOT NULL
) ENGINE = InnoDB

-- name: slots_table_with_key
CREATE TABLE {slots}(
  {key} VARBINARY(768) NOT NULL CHECK (LENGTH({key}) >= 1),
  slot SMALLINT NOT NULL CHECK (slot BETWEEN 0 AND 1023),
  n BIGINT NOT NULL,
  PRIMARY KEY ({key}, slot)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC

-- What a total is taken from.

-- name: slots_all
{slots}

-- DIV makes a whole number of the sum and refuses what is outside 64 bits; CAST would give the nearest end instead.

-- name: total_view
CREATE SQL SECURITY DEFINER VIEW {counter}(total) AS SELECT COALESCE(SUM(n), 0) DIV 1 FROM {all} AS _all

-- name: total_view_with_key
CREATE SQL SECURITY DEFINER VIEW {counter}({key}, total) AS
SELECT {key}, SUM(n) DIV 1 FROM {all} AS _all GROUP BY {key}

-- Known request ids. counted: when, by this server's clock, in UTC.

-- name: requests_table
CREATE TABLE {requests}(
  request_id VARBINARY(128) NOT NULL PRIMARY KEY CHECK (LENGTH(request_id) >= 1),
  {key_column}amount BIGINT NOT NULL,
  slot SMALLINT NOT NULL,
  counted DATETIME(6) NOT NULL{expiry_index}
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC

-- name: key_column
{key} VARBINARY(768) NOT NULL,

-- name: expiry_index
,
  INDEX counted (counted)

-- What `maintain` calls.

-- name: purge_procedure
{procedure_begin}CREATE PROCEDURE {purge_ids}(OUT purged BIGINT)
MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DELETE FROM {requests} WHERE {expired} ORDER BY counted LIMIT {purge_max};
  SET purged = ROW_COUNT();
END{procedure_end}

-- name: purge_ids
CALL {purge_ids}(@splitcount_purged);
SELECT @splitcount_purged

-- What the first row says that a definition writes, and the last one.

-- name: rule_begun
UPDATE splitcount_schema SET rule_version = rule_version + 1;
INSERT INTO splitcount_counters(name, version, key_column, slots, pick, missing, retries, window_seconds, layout, created_at, ready)
SELECT {name}, rule_version, {key_name}, {slots_number}, {pick_word}, {missing_word}, {retries_word}, {window_number},
       {layout_word}, UTC_TIMESTAMP(6), {is_ready} FROM splitcount_schema WHERE version = {schema_version}

-- name: rule_ready
UPDATE splitcount_counters SET ready = TRUE WHERE name = {name}

-- name: rule_unready
UPDATE splitcount_counters SET ready = FALSE WHERE name = {name}

-- name: create_slots
INSERT INTO {slots}({key_list}slot, n)
WITH _keys(_key) AS (VALUES {keys_values}), _slots(_slot) AS (VALUES {slots_values})
SELECT {key_of_all}_slot, 0 FROM _keys CROSS JOIN _slots WHERE TRUE ON DUPLICATE KEY UPDATE {slots}.n = {slots}.n

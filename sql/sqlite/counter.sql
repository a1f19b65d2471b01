-- The objects of one counter. Names within these statements that begin with _ cannot clash with a key column.
-- Numbers that repeat a limit: 768 bytes of a key, 128 of a request id, 1024 slots.

-- name: script_header
-- The counter {counter} for SQLite 3.37 or newer: the same objects as `splitcount define` makes.
--
-- Run it in one transaction, so that a failure changes nothing; with the sqlite3 shell:
--
--   (echo 'BEGIN IMMEDIATE;'; cat THIS_FILE; echo 'COMMIT;') | sqlite3 -bail app.db
--
-- A migration tool that runs each script in a transaction needs nothing else. `PRAGMA journal_mode = WAL;`, once and
-- outside of a transaction, lets readers and the writer work side by side; `splitcount status` says how it is set.
--
-- To count, in your own transaction: INSERT INTO {add}({key_list}{use_value}amount{use_request_id}) VALUES (...);
-- To read: SELECT * FROM {counter};

-- name: script_install
-- What all counters share; where it exists it stays as it is.

-- name: script_counter
-- The counter's own objects, then its rule.

-- name: slots_table
CREATE TABLE {slots}(
  slot INTEGER NOT NULL PRIMARY KEY CHECK (slot BETWEEN 0 AND 1023),
  n INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- name: slots_table_with_key
CREATE TABLE {slots}(
  {key} TEXT NOT NULL CHECK (length(CAST({key} AS BLOB)) BETWEEN 1 AND 768),
  slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 1023),
  n INTEGER NOT NULL,
  PRIMARY KEY ({key}, slot)
) STRICT, WITHOUT ROWID;

-- sum() over n itself fails when a sum on the way leaves 64 bits although the total fits, so halves are summed. abs()
-- of the smallest integer raises "integer overflow": a total beyond 64 bits is an error, never a rounded number.

-- name: total_view
CREATE VIEW {counter}(total) AS
SELECT CASE WHEN _high BETWEEN -2147483648 AND 2147483647 THEN _high * 4294967296 + _low
            ELSE abs(-9223372036854775807 - 1) END
FROM (SELECT coalesce(sum(n >> 32) + (sum(n & 4294967295) >> 32), 0) AS _high,
             coalesce(sum(n & 4294967295) & 4294967295, 0) AS _low
      FROM {slots});

-- name: total_view_with_key
CREATE VIEW {counter}({key}, total) AS
SELECT {key}, CASE WHEN _high BETWEEN -2147483648 AND 2147483647 THEN _high * 4294967296 + _low
                   ELSE abs(-9223372036854775807 - 1) END
FROM (SELECT {key}, sum(n >> 32) + (sum(n & 4294967295) >> 32) AS _high,
             sum(n & 4294967295) & 4294967295 AS _low
      FROM {slots} GROUP BY {key});

-- Known request ids. counted: when, in milliseconds since 1970 by this database's clock.

-- name: requests_table
CREATE TABLE {requests}(
  request_id TEXT NOT NULL PRIMARY KEY CHECK (length(CAST(request_id AS BLOB)) BETWEEN 1 AND 128),
  {key_column}amount INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  counted INTEGER NOT NULL{expiry_index}
) STRICT, WITHOUT ROWID;

-- name: key_column
{key} TEXT NOT NULL,

-- name: expiry_index
,
  UNIQUE (counted, request_id)

-- name: add_view
CREATE VIEW {add}({key_list}amount, request_id, value, slot) AS
SELECT {key_null}NULL, NULL, NULL, NULL WHERE false;

-- name: rule_row
UPDATE splitcount_schema SET rule_version = rule_version + 1;
INSERT INTO splitcount_counters(name, version, key_column, slots, pick, missing, retries, window_seconds)
VALUES ({name}, (SELECT rule_version FROM splitcount_schema WHERE version = {schema_version}), {key_name},
        {slots_number}, {pick_word}, {missing_word}, {retries_word}, {window_number});

-- name: create_slots
INSERT INTO {slots}({key_list}slot, n)
WITH RECURSIVE _all(_slot) AS (SELECT 0 UNION ALL SELECT _slot + 1 FROM _all WHERE _slot + 1 < {slots_number})
SELECT {key_value}_slot, 0 FROM _all WHERE true
ON CONFLICT DO NOTHING;

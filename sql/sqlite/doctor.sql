-- What `doctor` asks a database that may never have heard of us. It only reads.

-- name: doctor_enter
PRAGMA query_only = ON

-- name: doctor_unseen
SELECT 'which rows are hot: SQLite keeps no statistics of updates, and its one writer never waits for a row'

-- Triggers, but for our own.

-- name: doctor_bodies
SELECT name, sql, 'trigger' FROM sqlite_schema AS _trigger WHERE type = 'trigger' AND NOT (
  substr(tbl_name, -4) = '_add' AND EXISTS (
    SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = substr(_trigger.tbl_name, 1, length(_trigger.tbl_name) - 4) || '_slots'))
ORDER BY name

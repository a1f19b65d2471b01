-- Designs of counters that are tried against each other, all in the trial's own file. ?1 is the session's number, ?2 a
-- number of chance, ?3 the number of the add: 1, 2, 3 and so on over all sessions. An add is one transaction;
-- {insert_first} inserts a row in it, too, or is empty.

-- name: trial_create
CREATE TABLE entries(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, what TEXT NOT NULL)

-- name: trial_insert_first
INSERT INTO entries(session, what) VALUES (?1, 'a car');

-- name: trial_insert_many_first
INSERT INTO entries(session, what) WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {adds})
SELECT ?1, 'a car' FROM numbers;

-- The rows are as many before each turn, so that what counts them has something to count.

-- name: trial_reset
BEGIN IMMEDIATE;
DELETE FROM entries;
INSERT INTO entries(session, what) WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
SELECT 0, 'a car' FROM numbers;
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE)

-- name: trial_analyze
SELECT 1

-- name: trial_settings
SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'page_size', page_size FROM pragma_page_size
UNION ALL SELECT 'sqlite_version', sqlite_version()
UNION ALL SELECT 'synchronous', CASE synchronous WHEN 0 THEN 'off' WHEN 1 THEN 'normal' WHEN 2 THEN 'full' ELSE 'extra' END
          FROM pragma_synchronous

-- name: trial_size
SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate AND substr(name, 1, length('{design}_')) = '{design}_'

-- name: limit_create
SELECT 1

-- name: limit_add
BEGIN IMMEDIATE;
INSERT INTO entries(session, what) VALUES (?1, 'a car');
COMMIT

-- name: limit_total
SELECT count(*) FROM entries

-- name: count_rows_create
SELECT 1

-- name: count_rows_add
BEGIN IMMEDIATE;
INSERT INTO entries(session, what) VALUES (?1, 'a car');
SELECT count(*) FROM entries;
COMMIT

-- name: count_rows_total
SELECT count(*) FROM entries

-- name: one_row_create
CREATE TABLE {design}_count(n INTEGER NOT NULL);
INSERT INTO {design}_count VALUES (0)

-- name: one_row_add
BEGIN IMMEDIATE;
{insert_first}
UPDATE {design}_count SET n = n + 1;
COMMIT

-- name: one_row_total
SELECT n FROM {design}_count

-- SQLite has no view that is kept on commit; what people write instead is a trigger.

-- name: trigger_create
CREATE TABLE trigger_entries(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, what TEXT NOT NULL);
CREATE TABLE {design}_count(n INTEGER NOT NULL);
INSERT INTO {design}_count VALUES (0);
CREATE TRIGGER {design}_rows AFTER INSERT ON trigger_entries BEGIN UPDATE {design}_count SET n = n + 1; END

-- name: trigger_add
BEGIN IMMEDIATE;
INSERT INTO trigger_entries(session, what) VALUES (?1, 'a car');
COMMIT

-- name: trigger_total
SELECT n FROM {design}_count

-- name: random_rows_create
CREATE TABLE {design}_count(slot INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO {design}_count WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {slots})
SELECT n, 0 FROM numbers

-- name: random_rows_add
BEGIN IMMEDIATE;
{insert_first}
UPDATE {design}_count SET n = n + 1 WHERE slot = ?2 % {slots};
COMMIT

-- name: random_rows_total
SELECT sum(n) FROM {design}_count

-- name: counter_add
BEGIN IMMEDIATE;
{insert_first}
INSERT INTO {design}_add(amount) VALUES (1);
COMMIT

-- name: counter_add_value
BEGIN IMMEDIATE;
{insert_first}
INSERT INTO {design}_add(amount, value) VALUES (1, ?3);
COMMIT

-- name: counter_add_once
BEGIN IMMEDIATE;
{insert_first}
INSERT INTO {design}_add(amount, request_id) VALUES (1, lower(hex(randomblob(16))));
COMMIT

-- name: counter_add_batch
BEGIN IMMEDIATE;
{insert_many_first}
INSERT INTO {design}_add(amount) WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {adds})
SELECT 1 FROM numbers;
COMMIT

-- name: counter_total
SELECT total FROM {design}

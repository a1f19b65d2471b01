-- What moves a counter to another database.

-- name: identity
SELECT @@hostname, @@port, @@datadir, DATABASE()

-- A closed counter has these triggers on each table that adds write. Making one waits for every transaction that has used the
-- table, and what waits behind it meets it. MariaDB commits at each, so the row comes last: where the way there is cut off
-- adds are refused already, and closing it again goes on. A message has 128 characters at most.

-- name: close_table
CREATE OR REPLACE TRIGGER {closed_insert} BEFORE INSERT ON {table} FOR EACH ROW SIGNAL SQLSTATE 'SC041' SET MESSAGE_TEXT = {sentence};
CREATE OR REPLACE TRIGGER {closed_update} BEFORE UPDATE ON {table} FOR EACH ROW SIGNAL SQLSTATE 'SC041' SET MESSAGE_TEXT = {sentence}

-- name: open_table
DROP TRIGGER IF EXISTS {closed_insert};
DROP TRIGGER IF EXISTS {closed_update}

-- name: rule_moved
UPDATE splitcount_schema SET rule_version = rule_version + 1;
UPDATE splitcount_counters SET version = (SELECT rule_version FROM splitcount_schema), moved_to = {place} WHERE name = {name}

-- name: totals_after
SELECT SUM(n), COUNT(*), {now_us}, {key} FROM {rows} AS _rows WHERE {key} > ? GROUP BY {key} ORDER BY {key} LIMIT {rows_max}

-- name: requests_after
SELECT request_id, {key_or_empty}, amount, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', counted)
FROM {requests} WHERE request_id > ?{in_window} ORDER BY request_id LIMIT {rows_max}

-- name: in_window
AND counted > UTC_TIMESTAMP(6) - INTERVAL {window_number} SECOND

-- The totals that are copied lie in slot 0, and so do these. The time is written last: the assignments are made in this order.

-- name: requests_copy
INSERT INTO {requests}({key_list}request_id, amount, slot, counted) VALUES {rows_given} ON DUPLICATE KEY UPDATE
{copied_key_update}{requests}.amount = IF({requests}.counted < VALUES(counted), VALUES(amount), {requests}.amount),
{requests}.slot = IF({requests}.counted < VALUES(counted), 0, {requests}.slot),
{requests}.counted = GREATEST({requests}.counted, VALUES(counted))

-- name: copied_key_update
{requests}.{key} = IF({requests}.counted < VALUES(counted), VALUES({key}), {requests}.{key}),

-- name: request_given
({key_given}?, ?, 0, TIMESTAMPADD(MICROSECOND, ?, '1970-01-01'))

-- name: copied
SELECT key_text, total FROM splitcount_copied WHERE counter = ? AND key_text IN ({keys})

-- name: copied_write
INSERT INTO splitcount_copied(counter, key_text, total) VALUES {rows_given} ON DUPLICATE KEY UPDATE total = VALUES(total)

-- name: copied_forget
DELETE FROM splitcount_copied WHERE counter = ? LIMIT {rows_max}

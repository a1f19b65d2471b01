-- What moves a counter to another database.

-- Closed, its door raises for every add; the library reads moved_to with the rule, whose version is a new one.

-- name: close_counter
DROP TRIGGER IF EXISTS {add};
CREATE TRIGGER {add} INSTEAD OF INSERT ON {add}
BEGIN
  SELECT RAISE(ABORT, {sentence});
END;

-- name: open_counter
DROP TRIGGER IF EXISTS {add};

-- name: rule_moved
UPDATE splitcount_schema SET rule_version = rule_version + 1;
UPDATE splitcount_counters SET version = (SELECT rule_version FROM splitcount_schema), moved_to = {place} WHERE name = {name};

-- name: totals_after
SELECT sum(n >> 32) + (sum(n & 4294967295) >> 32), sum(n & 4294967295) & 4294967295, count(*), {now_ms}, {key}
FROM main.{slots} WHERE {key} > ?1 GROUP BY {key} ORDER BY {key} LIMIT ?2

-- name: requests_after
SELECT request_id, {key_or_empty}, amount, counted FROM main.{requests}
WHERE request_id > ?1 AND (counted > {now_ms} - ?2) IS NOT FALSE ORDER BY request_id LIMIT ?3

-- The totals that are copied lie in slot 0, and so do these.

-- name: request_copy
INSERT INTO main.{requests}(request_id, {key_list}amount, slot, counted) VALUES (?2, {key_parameter}?3, 0, ?4)
ON CONFLICT (request_id) DO UPDATE
SET {key_update}amount = excluded.amount, slot = excluded.slot, counted = excluded.counted WHERE counted < excluded.counted

-- name: copied_read
SELECT total FROM main.splitcount_copied WHERE counter = ?1 AND key_text = ?2

-- name: copied_write
INSERT INTO main.splitcount_copied(counter, key_text, total) VALUES (?1, ?2, ?3)
ON CONFLICT (counter, key_text) DO UPDATE SET total = excluded.total

-- name: copied_forget
DELETE FROM main.splitcount_copied WHERE counter = ?1 AND key_text IN (
  SELECT key_text FROM main.splitcount_copied WHERE counter = ?1 LIMIT ?2)

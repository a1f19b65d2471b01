-- name: drop_counter
DROP TRIGGER IF EXISTS {add};
DROP VIEW IF EXISTS {add};
DROP VIEW IF EXISTS {counter};
DROP TABLE IF EXISTS {slots};
DELETE FROM splitcount_streams WHERE substr(stream, 1, length('file/' || {name} || '/')) = 'file/' || {name} || '/';
DELETE FROM splitcount_streams WHERE stream = 'copy/' || {name};
DELETE FROM splitcount_copied WHERE counter = {name};
DELETE FROM splitcount_counters WHERE name = {name};

-- name: drop_requests
DROP TABLE IF EXISTS {requests};

-- name: uninstall
DROP TABLE splitcount_copied;
DROP TABLE splitcount_streams;
DROP TABLE splitcount_counters;
DROP TABLE splitcount_schema;

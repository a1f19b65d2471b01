-- Removes what all counters share; their own objects have gone by then.

-- name: uninstall
DROP TABLE IF EXISTS splitcount_schema, splitcount_streams, splitcount_copied, splitcount_counters;
DROP PROCEDURE IF EXISTS splitcount_session;

-- The tables first, all at once: where somebody is using one of them nothing has been dropped when that is known.

-- name: drop_tables
DROP TABLE IF EXISTS {tables}

-- name: drop_routines
DROP VIEW IF EXISTS {counter};
DROP PROCEDURE IF EXISTS {add};
DROP PROCEDURE IF EXISTS {add_one};
DROP PROCEDURE IF EXISTS {purge_ids};
DROP PROCEDURE IF EXISTS {fold}

-- name: drop_rule
DELETE FROM splitcount_counters WHERE name = {name};
DELETE FROM splitcount_copied WHERE counter = {name};
DELETE FROM splitcount_streams WHERE stream = CONCAT('copy/', {name});
DELETE FROM splitcount_streams WHERE LEFT(stream, LENGTH(CONCAT('file/', {name}, '/'))) = CONCAT('file/', {name}, '/')

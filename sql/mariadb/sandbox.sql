-- The place of a trial: a database of its own, told from others by its comment.

-- name: sandbox_database
splitcount_trial

-- Whether there is one that is none of ours, and who asks, for a GRANT.

-- name: sandbox_look
SELECT COUNT(*), CONCAT(QUOTE(LEFT(CURRENT_USER(), LENGTH(CURRENT_USER()) - LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) - 1)), '@',
                        QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))
FROM information_schema.SCHEMATA
WHERE SCHEMA_NAME = 'splitcount_trial' AND SCHEMA_COMMENT <> 'tables of a trial of splitcount'

-- The database has one name on the whole server, and so has the lock. The server sees a moment later that a killed run has
-- gone.

-- name: sandbox_lock
SELECT GET_LOCK('splitcount_trial', 1)

-- Asked again, by the server itself, whether it is ours. What a killed run left may be held by its last statements for a
-- moment. It is dropped before it is made, so that who may not drop it makes none.

-- name: sandbox_drop
BEGIN NOT ATOMIC
  IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA
                 WHERE SCHEMA_NAME = 'splitcount_trial' AND SCHEMA_COMMENT <> 'tables of a trial of splitcount') THEN
    SET STATEMENT lock_wait_timeout = 10 FOR DROP DATABASE IF EXISTS splitcount_trial;
  END IF;
END

-- name: sandbox_create
CREATE DATABASE splitcount_trial CHARACTER SET = utf8mb4 COMMENT = 'tables of a trial of splitcount'

-- Sessions of a trial wait for each other, and the time limits of a server are made for others. A deadlock that InnoDB was
-- told not to look for ends by the last one.

-- name: sandbox_no_limits
SET SESSION max_statement_time = 0, SESSION idle_transaction_timeout = 0, SESSION idle_write_transaction_timeout = 0,
  SESSION idle_readonly_transaction_timeout = 0, SESSION wait_timeout = 31536000, SESSION lock_wait_timeout = 86400,
  SESSION innodb_lock_wait_timeout = 50

-- The place of a trial: a schema of its own, told from others by its comment.

-- name: sandbox_schema
splitcount_trial

-- name: sandbox_look
SELECT pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('default_transaction_read_only')::boolean,
       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'),
       pg_catalog.quote_ident(pg_catalog.current_database()), pg_catalog.quote_ident(current_user),
       pg_catalog.obj_description(pg_catalog.to_regnamespace('splitcount_trial')::oid, 'pg_namespace') IS NOT DISTINCT FROM
         CASE WHEN pg_catalog.to_regnamespace('splitcount_trial') IS NOT NULL THEN 'tables of a trial of splitcount' END,
       'splitcount_trial'

-- A number that no counter uses, until the session ends.

-- name: sandbox_lock
SELECT pg_catalog.pg_try_advisory_lock(7394, 0)

-- What a killed run left may be held by its last statements for a moment.

-- name: sandbox_create
BEGIN;
SET LOCAL client_min_messages = error;
SET LOCAL lock_timeout = '10s';
DROP SCHEMA IF EXISTS splitcount_trial CASCADE;
CREATE SCHEMA splitcount_trial;
COMMENT ON SCHEMA splitcount_trial IS 'tables of a trial of splitcount';
COMMIT

-- name: sandbox_drop
BEGIN;
SET LOCAL client_min_messages = error;
SET LOCAL lock_timeout = '10s';
DROP SCHEMA IF EXISTS splitcount_trial CASCADE;
COMMIT

-- name: sandbox_enter
SET search_path = splitcount_trial

-- Sessions of a trial wait for each other, and the time limits of a role are made for others.

-- name: sandbox_no_limits
SET idle_in_transaction_session_timeout = 0;
SET idle_session_timeout = 0;
SET statement_timeout = 0;
SET lock_timeout = 0

-- name: drop_counter
DROP FUNCTION IF EXISTS {schema}.{add}({add_types});
DROP FUNCTION IF EXISTS {schema}.{add_one}({add_types}, bigint, timestamptz);
DROP FUNCTION IF EXISTS {schema}.{add_many}(text[], bigint[], text[], integer[], bigint, timestamptz);
DROP FUNCTION IF EXISTS {schema}.{total}({key_type});
DROP VIEW IF EXISTS {schema}.{counter};
DROP TABLE IF EXISTS {schema}.{slots};
DELETE FROM {schema}.splitcount_streams WHERE starts_with(stream, 'file/' || {name} || '/');
DELETE FROM {schema}.splitcount_streams WHERE stream = 'copy/' || {name};
DELETE FROM {schema}.splitcount_counters WHERE name = {name};

-- name: drop_requests
DROP TABLE IF EXISTS {schema}.{requests};

-- name: uninstall
DROP TABLE {schema}.splitcount_copied;
DROP TABLE {schema}.splitcount_streams;
DROP TABLE {schema}.splitcount_counters;
DROP TABLE {schema}.splitcount_schema;
DROP FUNCTION {schema}.splitcount_refuse(text);
DROP FUNCTION {schema}.splitcount_closed();
DROP FUNCTION {schema}.splitcount_session();
DROP FUNCTION {schema}.splitcount_draw();
DROP FUNCTION {schema}.splitcount_request_hash(text);

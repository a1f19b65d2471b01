-- What all counters of one schema share. Each step takes the schema from the version before it; a fresh install runs
-- all of them. A step may be run again on a database that has it already (`splitcount sql define` prints it).
--
-- Functions run with their owner's rights, so everything in them is named with its schema, and pg_temp comes last.

-- name: step_1
CREATE TABLE IF NOT EXISTS {schema}.splitcount_schema(
  one_row integer PRIMARY KEY CHECK (one_row = 1),                -- there is no other
  version integer NOT NULL CHECK (version >= 1),                  -- of these objects
  rule_version bigint NOT NULL CHECK (rule_version >= 0)          -- the last one given to a rule
);
INSERT INTO {schema}.splitcount_schema(one_row, version, rule_version) VALUES (1, 1, 0) ON CONFLICT DO NOTHING;

-- The rules: how each counter counts.
CREATE TABLE IF NOT EXISTS {schema}.splitcount_counters(
  name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  version bigint NOT NULL UNIQUE CHECK (version >= 1),            -- goes up with every rule that is written
  key_column text CHECK (key_column ~ '^[a-z][a-z0-9_]{0,39}$'),
  slots integer NOT NULL CHECK (slots BETWEEN 1 AND 1024),
  pick text NOT NULL CHECK (pick IN ('session', 'spread', 'random', 'request', 'free', 'value')),
  missing text NOT NULL CHECK (missing IN ('error', 'create')),
  retries text NOT NULL CHECK (retries IN ('count', 'once')),
  window_seconds bigint                                           -- NULL: for ever
    CHECK (window_seconds IS NULL OR (retries = 'once' AND window_seconds BETWEEN 1 AND 316224000)),
  freshness text NOT NULL DEFAULT 'live' CHECK (freshness IN ('live')),
  layout text NOT NULL DEFAULT 'compact' CHECK (layout IN ('compact', 'padded', 'journal')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  moved_to text                                                   -- where a closed counter goes on; NULL: it is open
);

-- How far each stream of adds was applied; its position commits together with its adds.
CREATE TABLE IF NOT EXISTS {schema}.splitcount_streams(
  stream text COLLATE "C" PRIMARY KEY CHECK (octet_length(stream) BETWEEN 1 AND 200),
  position bigint NOT NULL CHECK (position >= 1),
  checkpoint bytea NOT NULL CHECK (octet_length(checkpoint) <= 1024),
  updated_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Which total of another database each key of a counter holds, while it is being copied from there.
CREATE TABLE IF NOT EXISTS {schema}.splitcount_copied(
  counter text COLLATE "C" NOT NULL REFERENCES {schema}.splitcount_counters(name) ON DELETE CASCADE,
  key_text text COLLATE "C" NOT NULL,                             -- empty: the counter has no key
  total bigint NOT NULL,
  PRIMARY KEY (counter, key_text)
);

-- Raises a sentence that begins with an error's code, under that code's SQLSTATE: SC and the code's number.
CREATE OR REPLACE FUNCTION {schema}.splitcount_refuse(sentence text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
  RAISE EXCEPTION USING MESSAGE = sentence, ERRCODE = CASE split_part(sentence, ':', 1)
    WHEN 'invalid_argument' THEN 'SC001'
    WHEN 'amount_invalid' THEN 'SC002'
    WHEN 'value_invalid' THEN 'SC003'
    WHEN 'key_invalid' THEN 'SC004'
    WHEN 'request_id_invalid' THEN 'SC007'
    WHEN 'key_missing' THEN 'SC013'
    WHEN 'slot_missing' THEN 'SC014'
    WHEN 'out_of_range' THEN 'SC015'
    WHEN 'request_id_refused' THEN 'SC016'
    WHEN 'request_conflict' THEN 'SC017'
    WHEN 'request_in_flight' THEN 'SC018'
    WHEN 'counter_closed' THEN 'SC041'
    ELSE 'XX000' END;
END $function$;

-- The trigger on the tables of a closed counter; its argument is the sentence.
CREATE OR REPLACE FUNCTION {schema}.splitcount_closed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'SC041';
END $function$;

-- A number of this session's own: the lowest in 0..1023 that no other session has, held by an advisory lock of class
-- 7391 until the session ends and remembered in the setting splitcount.session. A rollback takes the setting back but
-- not the lock, so a lock that is held already is looked for first. With more sessions than numbers they are shared.
CREATE OR REPLACE FUNCTION {schema}.splitcount_session() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  _number integer;
BEGIN
  SELECT objid::bigint::integer INTO _number FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7391 AND objsubid = 2 AND objid < 1024 AND pid = pg_backend_pid() AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LIMIT 1;
  IF NOT FOUND THEN
    FOR _try IN 0..1023 LOOP
      IF pg_try_advisory_lock(7391, _try) THEN
        _number := _try;
        EXIT;
      END IF;
    END LOOP;
    _number := coalesce(_number, pg_backend_pid() % 1024);
  END IF;
  PERFORM set_config('splitcount.session', _number::text, false);
  RETURN _number;
END $function$;

-- One random number for the whole transaction, so that it touches one slot of a key.
CREATE OR REPLACE FUNCTION {schema}.splitcount_draw() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  _drawn text := current_setting('splitcount.draw', true);
BEGIN
  IF _drawn IS NULL OR _drawn = '' THEN
    _drawn := set_config('splitcount.draw', floor(random() * 4294967296)::bigint::text, true);
  END IF;
  RETURN _drawn::bigint & 4294967295;  -- anybody may set it
END $function$;

-- FNV-1a, 32 bits, over the bytes of the id.
CREATE OR REPLACE FUNCTION {schema}.splitcount_request_hash(request_id text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  _bytes CONSTANT bytea := convert_to(request_id, 'UTF8');
  _hash bigint := 2166136261;
BEGIN
  FOR _i IN 0..octet_length(_bytes) - 1 LOOP
    _hash := ((_hash # get_byte(_bytes, _i)) * 16777619) & 4294967295;
  END LOOP;
  RETURN _hash;
END $function$;

REVOKE ALL ON FUNCTION {schema}.splitcount_refuse(text), {schema}.splitcount_closed(), {schema}.splitcount_session(), {schema}.splitcount_draw(),
  {schema}.splitcount_request_hash(text) FROM PUBLIC;

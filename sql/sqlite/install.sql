-- What all counters of one database share. Each step takes the schema from the version before it; a fresh install
-- runs all of them. A step may be run again on a database that has it already (`splitcount sql define` prints it).

-- name: step_1
CREATE TABLE IF NOT EXISTS splitcount_schema(
  only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),             -- there is one row
  version INTEGER NOT NULL CHECK (version >= 1),                  -- of these objects
  rule_version INTEGER NOT NULL CHECK (rule_version >= 0)         -- the last one given to a rule
) STRICT;
INSERT INTO splitcount_schema(only, version, rule_version) VALUES (1, 1, 0) ON CONFLICT DO NOTHING;

-- The rules: how each counter counts.
CREATE TABLE IF NOT EXISTS splitcount_counters(
  name TEXT NOT NULL PRIMARY KEY CHECK (name GLOB '[a-z]*' AND name NOT GLOB '*[^a-z0-9_]*' AND length(name) <= 40),
  version INTEGER NOT NULL UNIQUE CHECK (version >= 1),           -- goes up with every rule that is written
  key_column TEXT CHECK (key_column GLOB '[a-z]*' AND key_column NOT GLOB '*[^a-z0-9_]*' AND length(key_column) <= 40),
  slots INTEGER NOT NULL CHECK (slots BETWEEN 1 AND 1024),
  pick TEXT NOT NULL CHECK (pick IN ('session', 'spread', 'random', 'request', 'free', 'value')),
  missing TEXT NOT NULL CHECK (missing IN ('error', 'create')),
  retries TEXT NOT NULL CHECK (retries IN ('count', 'once')),
  window_seconds INTEGER   -- NULL: for ever
    CHECK (window_seconds IS NULL OR (retries = 'once' AND window_seconds BETWEEN 1 AND 316224000)),
  freshness TEXT NOT NULL DEFAULT 'live' CHECK (freshness IN ('live')),
  layout TEXT NOT NULL DEFAULT 'compact' CHECK (layout IN ('compact')),
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) CHECK (julianday(created_at) IS NOT NULL),
  moved_to TEXT            -- where a closed counter goes on; NULL: it is open
) STRICT;

-- How far each stream of adds was applied; its position commits together with its adds.
CREATE TABLE IF NOT EXISTS splitcount_streams(
  stream TEXT NOT NULL PRIMARY KEY CHECK (length(CAST(stream AS BLOB)) BETWEEN 1 AND 200),
  position INTEGER NOT NULL CHECK (position >= 1),
  checkpoint BLOB NOT NULL CHECK (length(checkpoint) <= 1024),
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which total of another database each key of a counter holds, while it is being copied from there.
CREATE TABLE IF NOT EXISTS splitcount_copied(
  counter TEXT NOT NULL,
  key_text TEXT NOT NULL,                                         -- empty: the counter has no key
  total INTEGER NOT NULL,
  PRIMARY KEY (counter, key_text)
) STRICT, WITHOUT ROWID;

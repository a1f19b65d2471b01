-- What all counters of one database share. Each step takes the schema from the version before it; a fresh install runs
-- all of them. A step may be run again on a database that has it already (`splitcount sql define` prints it).
--
-- Routines run with their owner's rights and in the database that they belong to, so nothing in them names a database.
-- splitcount_schema comes last: where it has its row, everything else is there.

-- name: step_1
CREATE TABLE IF NOT EXISTS splitcount_counters(                   -- the rules: how each counter counts
  name VARCHAR(40) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL PRIMARY KEY,
  version BIGINT NOT NULL UNIQUE CHECK (version >= 1),            -- goes up with every rule that is written
  key_column VARCHAR(40) CHARACTER SET ascii COLLATE ascii_nopad_bin,
  slots INT NOT NULL CHECK (slots BETWEEN 1 AND 1024),
  pick VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL
    CHECK (pick IN ('session', 'spread', 'random', 'request', 'free', 'value')),
  missing VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL CHECK (missing IN ('error', 'create')),
  retries VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL CHECK (retries IN ('count', 'once')),
  window_seconds BIGINT                                           -- NULL: for ever
    CHECK (window_seconds IS NULL OR window_seconds BETWEEN 1 AND 316224000),
  freshness VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT 'live' CHECK (freshness IN ('live')),
  layout VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT 'compact'
    CHECK (layout IN ('compact', 'journal')),
  created_at DATETIME(6) NOT NULL,                                -- UTC
  moved_to VARBINARY(500),                                        -- where a closed counter goes on; NULL: it is open
  ready BOOLEAN NOT NULL                                          -- FALSE: half made or half dropped; the next define or drop clears it away
) ENGINE = InnoDB COMMENT = 'splitcount: shared';

CREATE TABLE IF NOT EXISTS splitcount_streams(                    -- how far each stream of adds was applied
  stream VARBINARY(200) NOT NULL PRIMARY KEY,
  position BIGINT NOT NULL CHECK (position >= 1),                 -- commits together with its adds
  checkpoint VARBINARY(1024) NOT NULL,
  updated_at DATETIME(6) NOT NULL
) ENGINE = InnoDB COMMENT = 'splitcount: shared';

CREATE TABLE IF NOT EXISTS splitcount_copied(                     -- which total of another database each key of a counter holds
  counter VARCHAR(40) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  key_text VARBINARY(768) NOT NULL,                               -- empty: the counter has no key
  total BIGINT NOT NULL,
  PRIMARY KEY (counter, key_text)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC COMMENT = 'splitcount: shared';

CREATE TABLE IF NOT EXISTS splitcount_schema(
  one_row TINYINT NOT NULL PRIMARY KEY CHECK (one_row = 1),       -- there is no other
  version INT NOT NULL CHECK (version >= 1),                      -- of these objects
  rule_version BIGINT NOT NULL CHECK (rule_version >= 0)          -- the last one given to a rule
) ENGINE = InnoDB COMMENT = 'splitcount: shared';

{procedure_begin}CREATE PROCEDURE IF NOT EXISTS splitcount_session()
NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
COMMENT 'splitcount: a number of this session''s own'
BEGIN
  -- The lowest in 0..1023 that no other session has, held by a user lock until the session ends and remembered in
  -- @splitcount_session, which ends with it too. With more sessions than numbers they are shared.
  DECLARE _prefix VARCHAR(40) DEFAULT CONCAT('splitcount_', LEFT(SHA1(DATABASE()), 16), '_');
  DECLARE _number INT DEFAULT 0;
  WHILE _number < 1024 AND NOT COALESCE(IS_USED_LOCK(CONCAT(_prefix, _number)) = CONNECTION_ID(), FALSE)
        AND NOT COALESCE(GET_LOCK(CONCAT(_prefix, _number), 0), FALSE) DO
    SET _number = _number + 1;
  END WHILE;
  SET @splitcount_session = IF(_number < 1024, _number, CONNECTION_ID() & 1023);
END{procedure_end}

INSERT INTO splitcount_schema(one_row, version, rule_version) VALUES (1, 1, 0) ON DUPLICATE KEY UPDATE one_row = 1;

-- A prize that is won and the number of prizes won: both are there afterwards, or neither. In psql:
--
--   splitcount define prizes_won --slots 11 --pick value --db postgresql:dbname=shop
--   psql --dbname shop --set ON_ERROR_STOP=1 --file prize.sql

CREATE TABLE IF NOT EXISTS prizes(prize_id bigint PRIMARY KEY, winner text NOT NULL);

-- In a transaction. The prize's id chooses the slot, so winners of prizes in different slots never wait for each other.
BEGIN;
INSERT INTO prizes(prize_id, winner) VALUES (4711, 'Ada');
SELECT prizes_won_add(value => 4711);
COMMIT;

-- In one statement, which takes one round trip and is a transaction of its own.
WITH won AS (INSERT INTO prizes(prize_id, winner) VALUES (4712, 'Grace') RETURNING prize_id)
SELECT prizes_won_add(value => prize_id) FROM won;

-- A prize that was won before is not won again, and so not counted again.
WITH won AS (INSERT INTO prizes(prize_id, winner) VALUES (4712, 'Linus') ON CONFLICT DO NOTHING RETURNING prize_id)
SELECT prizes_won_add(value => prize_id) FROM won;

SELECT total AS prizes_won FROM prizes_won;

-- What `inspect` shows: the lock that a writer holds, and the pages that a key's slots lie on.

-- One connection counts twice in one row, another time once in each of two; nothing of it is committed.

-- name: inspect_locks_create
CREATE TABLE one_row(n INTEGER NOT NULL);
INSERT INTO one_row VALUES (0);
CREATE TABLE two_slots(slot INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO two_slots VALUES (0, 0), (1, 0)

-- name: inspect_locks_one_row
BEGIN IMMEDIATE;
UPDATE one_row SET n = n + 1;
UPDATE one_row SET n = n + 1

-- name: inspect_locks_two_slots
BEGIN IMMEDIATE;
UPDATE two_slots SET n = n + 1 WHERE slot = 0;
UPDATE two_slots SET n = n + 1 WHERE slot = 1

-- name: inspect_locks_end
ROLLBACK

-- There is one lock, and who does not get it is told so.

-- name: inspect_locks_held
BEGIN IMMEDIATE;
ROLLBACK;
SELECT 0

-- The rows of a WITHOUT ROWID table lie in the order of their key in a tree whose inner pages hold rows, too: one
-- between each two of their children. So a row's place in that order tells its page. A page's path sorts before those of
-- its children, "/" before "/000/" and "/001/", and a row of an inner page comes after the child of its number: "~"
-- sorts behind everything in a path.

-- name: inspect_pages
WITH RECURSIVE _pages AS MATERIALIZED (
  SELECT path, pageno, pagetype, ncell, payload, pgsize FROM dbstat WHERE schema = 'main' AND name = '{counter}_slots'
), _numbers(_number) AS (
  SELECT 0 UNION ALL SELECT _number + 1 FROM _numbers
  WHERE _number + 1 < (SELECT max(ncell) FROM _pages WHERE pagetype = 'internal')
), _runs(_at, _page, _rows) AS (
  SELECT path, pageno, ncell FROM _pages WHERE pagetype = 'leaf'
  UNION ALL
  SELECT path || printf('%03x/~', _number), pageno, 1 FROM _pages JOIN _numbers ON _number < ncell
  WHERE pagetype = 'internal'
), _ends AS (
  SELECT _page, _rows, sum(_rows) OVER (ORDER BY _at) AS _end FROM _runs
), _ranks AS (
  SELECT *, row_number() OVER (ORDER BY {key_list}slot) AS _rank FROM main.{counter}_slots
), _wanted AS (
  SELECT count(*) AS _count, min(_rank) AS _first, max(_rank) AS _last FROM _ranks {of_key}
)
SELECT _count, (SELECT count(DISTINCT _page) FROM _ends WHERE _end >= _first AND _end - _rows < _last),
       (SELECT page_size FROM pragma_page_size), (SELECT sum(pgsize) FROM _pages), 0,
       -- a row, its length, and its place in its page's list
       (SELECT coalesce((sum(payload) + 3 * sum(ncell) + sum(ncell) - 1) / sum(ncell), 0) FROM _pages)
FROM _wanted

-- name: inspect_of_key
WHERE {key} = ?1

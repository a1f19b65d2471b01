-- The place of a trial: a file of its own, told from others by its application id, the letters spct.

-- name: sandbox_create
PRAGMA application_id = 1936745332

"""Counts a page view from plain SQL, in one transaction with a row of its own.

Any language that can send SQL does the same. The counter comes from the command line:

    splitcount define page_views --key page --db views.db
    python3 any_language.py views.db
"""
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS visits(page TEXT NOT NULL, visitor TEXT NOT NULL)")

with db:  # commits at its end, and rolls back when anything in it fails
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO visits(page, visitor) VALUES (?, ?)", ("/home", "Ada"))
    db.execute("INSERT INTO page_views_add(page, amount) VALUES (?, ?)", ("/home", 1))

(total,) = db.execute("SELECT total FROM page_views WHERE page = ?", ("/home",)).fetchone()
print(f"page views of /home: {total}")

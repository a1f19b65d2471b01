"""A prize that is won and the number of prizes won, with psycopg2: both are there afterwards, or neither.

    splitcount define prizes_won --slots 11 --pick value --db postgresql:dbname=shop
    python3 prize.py dbname=shop 4713 Barbara
"""
import sys

import psycopg2
from psycopg2 import errors

address, prize_id, winner = sys.argv[1], int(sys.argv[2]), sys.argv[3]

# One statement, one round trip. Other rows of your own go into the same transaction.
WIN = """WITH won AS (INSERT INTO prizes(prize_id, winner) VALUES (%s, %s) RETURNING prize_id)
         SELECT prizes_won_add(value => prize_id) FROM won"""

connection = psycopg2.connect(address)
with connection, connection.cursor() as cursor:
    cursor.execute("CREATE TABLE IF NOT EXISTS prizes(prize_id bigint PRIMARY KEY, winner text NOT NULL)")
try:
    with connection, connection.cursor() as cursor:  # commits at its end, and rolls back when anything in it fails
        cursor.execute(WIN, (prize_id, winner))
except errors.UniqueViolation:
    print(f"prize {prize_id} was won before, and is counted once")
with connection, connection.cursor() as cursor:
    cursor.execute("SELECT total FROM prizes_won")
    (total,) = cursor.fetchone()
print(f"prizes won: {total}")
connection.close()

-- Comparing new projections with old ones, table by table in the order of the key, and putting them in place.
-- `{table}` and `{columns}` come from the list in rebuild.py.

-- name: dump
select {columns} from {table} where p = :p

-- name: dump_sorted
select {columns} from {table} where p = :p order by {order}

-- name: clear
delete from {table} where p = :p

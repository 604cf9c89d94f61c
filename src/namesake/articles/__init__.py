"""Articles and what passes between rooms: schemas, the builder of tables, records set aside."""

"""What passes between rooms: articles and mentions, the Arrow schemas, the builder of tables, records set aside."""

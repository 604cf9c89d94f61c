"""Articles and mentions: as structs, as Arrow tables, and the records that could not be read or linked."""

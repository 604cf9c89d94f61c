"""The columns of a KB: how they are declared, stored, and computed from the parsed dump."""

"""Tables drawn in a terminal."""

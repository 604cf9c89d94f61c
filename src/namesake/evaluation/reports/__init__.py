"""What an evaluation looks like to a reader."""

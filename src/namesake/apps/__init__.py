"""The doors to the outside: the command line, and what else people come in through."""

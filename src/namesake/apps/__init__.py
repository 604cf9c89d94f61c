"""Entry points: command line, server, terminal output, spaCy component and reconciliation of files."""

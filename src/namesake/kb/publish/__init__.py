"""A build from start to end: draft, lock, journal, memory limit, and the publication of the finished KB."""

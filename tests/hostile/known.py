"""Cases that fail today, by test, with the item of step 6 that mends them. Take a line out when its test passes."""

KNOWN: dict[str, str] = {}

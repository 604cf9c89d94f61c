"""The name index: normalised names, short forms, misspellings and variants."""

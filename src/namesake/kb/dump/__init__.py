"""Reading dumps: chunks of lines, one parsed row for each item, Wikipedia pages and ready-made ranks."""

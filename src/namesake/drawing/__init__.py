"""HTML from tables: one drawing code for notebooks, the page and reports."""

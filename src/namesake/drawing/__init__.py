"""HTML for notebooks, the page, the review and reports: Jinja2 templates, and the functions that prepare their data."""

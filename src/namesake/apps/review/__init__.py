"""A page on which somebody looks at the doubtful rows of a table, and which gives the choices back as gold."""

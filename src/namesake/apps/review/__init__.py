"""A page to review the uncertain rows of a table. It saves the decisions as gold."""

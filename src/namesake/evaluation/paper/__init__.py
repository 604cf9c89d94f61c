"""The paper's tables, reproduced."""

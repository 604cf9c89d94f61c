"""Terminal output: links, explanations, entities, tables and curves."""

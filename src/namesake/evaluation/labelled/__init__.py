"""End to end on labelled raw text: labels beside what was found, figures, misses, thresholds."""

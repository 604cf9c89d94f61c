"""How work is spread: over threads here, over a cluster later."""

"""Side-by-side measurements; not installed."""

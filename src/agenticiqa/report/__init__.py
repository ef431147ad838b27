"""Pages that people look at, made from results."""

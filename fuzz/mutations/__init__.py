"""How a valid input becomes one that is not quite so: bytes, tables, trees of values, archives, databases, pickles."""

"""Types, attributes, locations and walks that all dialects share; it imports no dialect."""

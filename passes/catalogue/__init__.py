"""Tables of the passes: their locations, their names and levels in Relay, their rounding, and the default pipeline."""

"""Tables of the passes: their locations, their names and levels in Relay, and the default pipeline."""

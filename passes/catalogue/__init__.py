"""Tables of the passes: where each is found, its name and level in Relay, its rounding, and the default pipeline."""

"""Schedule primitives: each file has the rewrite of a primitive and its pass; `legality.py` has shared conditions."""

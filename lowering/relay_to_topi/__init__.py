"""relay to topi: every operator of a kernel becomes index-space definitions, chosen by strategy.

One file per op family registers implementations in `strategies.STRATEGIES`; `convert_relay_to_topi.py` is the pass.
"""

"""`make fuzz MINUTES=30`: random graphs and nodes, damaged models and texts, against every level of the compiler.

Each campaign is a function of a seed, so a finding is repeated by `make fuzz CASE=graphs:17`. Cases run in processes of
their own, with a time and a memory limit: a crash, a hang or a huge allocation is a finding like a wrong value.
"""

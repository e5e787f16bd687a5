"""`make fuzz MINUTES=30`: random graphs and nodes, damaged models and texts, tested at every level of the compiler.

Each campaign is a function of a seed, so `make fuzz CASE=graphs:17` repeats a finding. Cases run in separate processes
with a time and a memory limit: a crash, a hang or a huge allocation is a finding, as a wrong value is.
"""

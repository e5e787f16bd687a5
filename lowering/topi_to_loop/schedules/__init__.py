"""Analytical schedules, one family a file: tiles follow from registers and caches of the target.

A family reads the kernel through `kernel_view.py`, takes the steps of `common_steps.py`, and tries and records
primitives in a `ScheduleDraft`; `assign.py` asks the families in order.
"""

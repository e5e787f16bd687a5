"""Analytical schedules of families of kernels: tile sizes follow from the target's registers and caches.

A family reads the kernel through `kernel_view.py`, uses the steps of `common_steps.py`, and tries and records
primitives in a `ScheduleDraft`. `choose_family.py` tries the families in order.
"""

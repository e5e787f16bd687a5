"""Analytical schedules of families of kernels: tile sizes follow from the target's registers and caches.

A family reads the kernel through `kernel_view.py` and proposes candidates (`candidates.py`) with costs
(`cost_model.py`, `tile_model.py`). A candidate is applied to a `ScheduleDraft`, which tries and records primitives;
`common_steps.py`, `register_tile.py` and `matrix_tile.py` have its steps. `choose_family.py` selects the cheapest.
"""

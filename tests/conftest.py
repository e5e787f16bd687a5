"""What holds for every test: hypothesis never reads the clock, so a busy machine fails nothing; grids are sampled; no
processes help to compile, as tests run side by side already."""

from __future__ import annotations

import gc
import os
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings
from support.examples import FACTOR

settings.register_profile("xrelay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("xrelay")
os.environ.setdefault("XRELAY_WORKERS", "0")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep every k-th case of a test marked `@pytest.mark.grid(k)`; `make test-all` and naming one run all."""
    if FACTOR > 1 or any("[" in name for name in config.args):
        return
    seen: defaultdict[str, int] = defaultdict(int)
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        mark = item.get_closest_marker("grid")
        name = item.nodeid.partition("[")[0]
        chosen = mark is None or seen[name] % mark.args[0] == 0
        seen[name] += 1
        (kept if chosen else left_out).append(item)
    items[:] = kept
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Keep modules and collected tests, which live as long as the process, out of every later garbage collection."""
    gc.collect()
    gc.freeze()

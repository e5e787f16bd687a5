"""What holds for every test: hypothesis never reads the clock, so a busy machine fails nothing."""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

settings.register_profile("xrelay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("xrelay")


def pytest_collection_finish() -> None:
    """Keep modules and collected tests, which live as long as the process, out of every later garbage collection."""
    gc.collect()
    gc.freeze()

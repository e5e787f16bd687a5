"""Settings of all tests.

Hypothesis reads no clock, so a busy machine fails no test. `make test` draws from fixed seeds, `make test-all` and
`make fuzz` from new ones. Hypothesis also draws constants of the loaded modules. With fixed seeds it does not, because
the draws would depend on the folder of the checkout, on earlier tests, and on every edit of the code. Grids are
sampled. Compilation uses no worker processes, as tests already run side by side, and models compile no versions by
themselves.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Hashable, Iterable

import pytest
from hypothesis import HealthCheck, settings
from support.examples import FACTOR
from support.grids import diagonal

from xrelay.passes.infra.gc_pause import YOUNG_OBJECTS

settings.register_profile(
    "xrelay", deadline=None, derandomize=FACTOR <= 1, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("xrelay")
# Old versions have no such constants.
providers = sys.modules.get("hypothesis.internal.conjecture.providers")
if FACTOR <= 1 and providers is not None and hasattr(providers, "_get_local_constants"):
    pytest.MonkeyPatch().setattr(providers, "_get_local_constants", providers.Constants)
os.environ.setdefault("XRELAY_WORKERS", "0")
os.environ.setdefault("XRELAY_SPECIALIZE", "0")

NUMBERS = ("tests/numeric/", "tests/unit/onnx/", "tests/onnx_backend/")
"""Folders whose tests compile, case by case."""

MAX_CASES = 16
"""How many cases a test of theirs may have without saying how many of them `make test` runs."""


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None]:
    """Keeps one in k cases of a test marked `@pytest.mark.grid(k)`; `make test-all` and naming one run all.

    Cases are left out before pytest makes items of them, as those take most of the time of collection.
    """
    yield
    cases, name = metafunc._calls, metafunc.definition.nodeid
    mark = metafunc.definition.get_closest_marker("grid")
    if mark is None:
        if len(cases) > MAX_CASES and name.startswith(NUMBERS):
            raise pytest.UsageError(f"{name} has {len(cases)} cases: @pytest.mark.grid(k) has to say how many run")
    elif FACTOR <= 1 and not any("[" in name for name in metafunc.config.args):
        values: Callable[..., Iterable[Hashable]] = mark.kwargs.get("values", parameters)
        given = [values(**case.params) for case in cases]
        kept = diagonal(given, mark.args[0], all_values="values" in mark.kwargs)
        metafunc._calls = [cases[number] for number in kept]


def parameters(**values: object) -> list[tuple[str, str]]:
    """What cases may have in common: each of their parameters, if there are several."""
    return [(name, repr(value)) for name, value in values.items()] if len(values) > 1 else []


def pytest_collection_finish() -> None:
    """Keep modules and collected tests, which live as long as the process, out of every later garbage collection.

    Collections are as rare as inside of `gc_pause`: with Python's default they take twice the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)

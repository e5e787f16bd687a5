from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from xrelay.passes.infra.gc_pause import YOUNG_OBJECTS, gc_pause


@pytest.fixture(autouse=True)
def usual_thresholds() -> object:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_collections_are_rare_inside_and_as_before_outside() -> None:
    gc.set_threshold(700, 10, 11)
    with gc_pause(), gc_pause():
        assert gc.get_threshold() == (YOUNG_OBJECTS, 10, 11)
    assert gc.get_threshold() == (700, 10, 11)


def test_an_error_inside_restores_the_thresholds() -> None:
    gc.set_threshold(700, 10, 11)
    with pytest.raises(ValueError, match="inside"), gc_pause():
        raise ValueError("inside")
    assert gc.get_threshold() == (700, 10, 11)


def test_collections_that_are_switched_off_stay_off() -> None:
    gc.set_threshold(0, 10, 11)
    with gc_pause():
        assert gc.get_threshold() == (0, 10, 11)


IMPORTS = """
import gc
import numpy
import xrelay
usual, seen = gc.get_threshold(), []
gc.callbacks.append(lambda phase, info: seen.append(phase))
{}
assert gc.get_threshold() == usual
print(seen.count("start"), sum("xrelay." in name for name in sys.modules))
"""
BROKEN = """
import sys
try:
    xrelay.compile("absent.mlir", cache=False)
except xrelay.errors.XRelayError:
    pass
"""


@pytest.mark.parametrize(
    "what", ["import sys; xrelay.relay", BROKEN], ids=["a public name", "a compilation that fails"]
)
def test_few_collections_while_the_compiler_is_imported(what: str) -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS.format(what)], capture_output=True, text=True, check=True)
    collections, modules = map(int, done.stdout.split())
    assert modules > 100
    assert collections < 8, "the usual threshold makes more than a hundred"

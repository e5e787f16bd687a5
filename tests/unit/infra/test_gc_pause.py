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


KEPT = """
import gc
from xrelay.passes.infra.gc_pause import keep_imported

def is_young(value):
    return any(each is value for generation in (0, 1) for each in gc.get_objects(generation))

value = [[1]]
assert is_young(value)
keep_imported()
assert not is_young(value)
assert gc.get_freeze_count() == 0

gc.freeze()
frozen, value = gc.get_freeze_count(), [[1]]
keep_imported()
assert is_young(value)
assert gc.get_freeze_count() == frozen
"""


def test_objects_of_modules_are_moved_to_the_oldest_generation_unless_some_are_frozen() -> None:
    subprocess.run([sys.executable, "-c", KEPT], check=True)


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

"""`gc_pause` makes garbage collections rare during imports of the compiler, parsing and rewriting.

`compile`, `parse_module`, `run_pipeline` and every pass that is called from Python, including `Sequential`, run inside
`gc_pause`, as does the import of a public name; outside, the user's thresholds apply. Forks by other threads wait
meanwhile, and running out of memory is raised as one kind of error: see `xrelay.forking` and `xrelay.shortage`.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

from xrelay.forking import forks_wait
from xrelay.shortage import reporting_shortage

YOUNG_OBJECTS = 100_000
"""The number of new objects that start a collection inside `gc_pause`.

Operations form reference cycles and mostly live as long as the module, so with Python's default of some hundred the
collector searches all of them again and again and frees almost nothing: this takes a sixth of the compile time, and
more for larger graphs. Classes behave likewise: it takes a tenth of the time to import the compiler.
"""

_LOCK = threading.Lock()
_active = 0
_usual = (0, 0, 0)


@contextmanager
def gc_pause() -> Generator[None]:
    """Raises the collector's first threshold inside `with`, also if several threads compile at once."""
    with reporting_shortage(), forks_wait():
        _enter()
        try:
            yield
        finally:
            _leave()


def keep_imported() -> None:
    """Moves all objects to the oldest generation, where a full collection would move those in use.

    Modules and their classes live as long as the process. A collection after an import would traverse them together
    with all objects of numpy, which takes a third of the time of the import. If the program itself has frozen objects
    (`gc.freeze`), no object is moved.
    """
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


def _enter() -> None:
    global _active, _usual
    with _LOCK:
        if _active == 0:
            _usual = gc.get_threshold()
            # A threshold of zero means that the caller has disabled collections.
            if 0 < _usual[0] < YOUNG_OBJECTS:
                gc.set_threshold(YOUNG_OBJECTS, *_usual[1:])
        _active += 1


def _leave() -> None:
    global _active
    with _LOCK:
        _active -= 1
        if _active == 0:
            gc.set_threshold(*_usual)

"""`gc_pause` makes garbage collections rare while the compiler is imported, and programs are parsed and rewritten.

`compile`, `parse_module`, `run_pipeline` and every pass that is called from Python, a `Sequential` above all, run
inside of `gc_pause`, as does the import of a public name; outside, the thresholds are those that the user of the
library set. Forks of other threads wait meanwhile, and a shortage of memory
is raised as one error: see `xrelay.forking` and `xrelay.shortage`.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

from xrelay.forking import forks_wait
from xrelay.shortage import reporting_shortage

YOUNG_OBJECTS = 100_000
"""How many new objects start a collection meanwhile.

Operations refer to each other in circles and mostly live as long as the module, so Python's default of some hundred
searches all of them again and again for next to nothing: a sixth of the time to compile, and more in larger graphs.
So it does with classes: a tenth of the time to import the compiler.
"""

_LOCK = threading.Lock()
_active = 0
_usual = (0, 0, 0)


@contextmanager
def gc_pause() -> Generator[None]:
    """Raises the collector's first threshold inside of `with`, also where several threads compile at once."""
    with reporting_shortage(), forks_wait():
        _enter()
        try:
            yield
        finally:
            _leave()


def _enter() -> None:
    global _active, _usual
    with _LOCK:
        if _active == 0:
            _usual = gc.get_threshold()
            # A threshold of zero means that the caller has switched collections off.
            if 0 < _usual[0] < YOUNG_OBJECTS:
                gc.set_threshold(YOUNG_OBJECTS, *_usual[1:])
        _active += 1


def _leave() -> None:
    global _active
    with _LOCK:
        _active -= 1
        if _active == 0:
            gc.set_threshold(*_usual)

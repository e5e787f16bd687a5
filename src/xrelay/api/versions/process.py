"""A process that compiles a version of a model into the cache, see `helper.py`.

It runs with low priority, uses one thread, and ends with its parent.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from xrelay.api.model_key import content_digest
from xrelay.api.versions.helper import VersionTask
from xrelay.api.versions.recipe import Recipe
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.runtime.json_fields import decode, parse_json_object
from xrelay.target.host import set_host_facts
from xrelay.target.target import Target

_NICENESS = 10
"""On a core that runs of the model use too, the process has a tenth of the time; at 19 it would be a seventieth."""


def compile_version(task: VersionTask) -> None:
    """Compiles a version into the cache. Raises the errors of `compile`."""
    set_host_facts(task.host)
    recipe = Recipe(
        task.path,
        Target.parse(task.target),
        task.opt_level,
        task.shapes,
        integers=task.integers,
        exact=task.exact,
        digest=content_digest(task.path) if task.digest is None else task.digest,
        sizes=task.sizes,
        records=None if task.records is None else Path(task.records),
    )
    recipe.build()


def main() -> None:
    """Compiles the version that the first line of standard input describes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    what = "the message of a model"
    task = decode(VersionTask, parse_json_object(sys.stdin.buffer.readline(), what), what)
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    with gc_pause():
        compile_version(task)


def _end_with(pipe: int) -> None:
    """Ends the process when the parent has closed the pipe, or has ended."""
    os.read(pipe, 1)
    os._exit(1)


if __name__ == "__main__":
    main()

"""Which function rewrites a kernel for which primitive. Another package registers its own with `register_rewrite`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.dialects import func

from xrelay.dialects.loop import SchedulePrimitive, Tail
from xrelay.errors import ScheduleError
from xrelay.passes.loop.primitives.legality import check_tails, has_overlap
from xrelay.registrations import note_registration

Rewrite = Callable[[func.FuncOp, Any], None]
"""Changes the kernel in place; raises `ScheduleError`, leaving the kernel alone, where that is not legal.

The second argument is an instance of the primitive's own class."""

_FOLDER = "xrelay.passes.loop.primitives"

REWRITES: dict[str, Rewrite | str] = {
    "split": f"{_FOLDER}.split:split",
    "fuse": f"{_FOLDER}.fuse:fuse",
    "reorder": f"{_FOLDER}.reorder:reorder",
    "tile": f"{_FOLDER}.tile:tile",
    "unroll": f"{_FOLDER}.unroll:unroll",
    "vectorize": f"{_FOLDER}.vectorize:vectorize",
    "parallelize": f"{_FOLDER}.parallelize:parallelize",
    "cache_write": f"{_FOLDER}.cache_write:cache_write",
    "compute_at": f"{_FOLDER}.compute_at:compute_at",
    "set_tail": f"{_FOLDER}.set_tail:set_tail",
    "disable_unroll": f"{_FOLDER}.disable_unroll:disable_unroll",
}
"""Primitive name → function, or "module:function" imported when it is first used."""


def register_rewrite(name: str, rewrite: Rewrite) -> None:
    """Let `rewrite` carry out the primitive called `name` (see `xrelay.dialects.loop.schedule.register_primitive`)."""
    REWRITES[name] = rewrite
    note_registration(rewrite)


def apply_primitive(kernel: func.FuncOp, step: SchedulePrimitive) -> None:
    """Carry out one primitive on a kernel, in place.

    Raises `ScheduleError` naming the primitive, its loop or block, the reason and what to do; the kernel is unchanged
    then.
    """
    if (problem := step.problem()) is not None:
        raise ScheduleError(f"{step.primitive}: {problem}", help="see the primitive's documentation")
    rewrite = REWRITES.get(step.primitive)
    if rewrite is None:
        raise ScheduleError(f"primitive '{step.primitive}' has no rewrite", help="register one with register_rewrite")
    if isinstance(rewrite, str):
        module, _, name = rewrite.partition(":")
        rewrite = getattr(import_module(module), name)
    if getattr(step, "tail", None) is Tail.OVERLAP or has_overlap(kernel):
        # Whether the last tiles can be moved back shows when they are: on a copy, before the kernel is touched.
        trial = kernel.clone()
        rewrite(trial, step)
        check_tails(trial, step)
    rewrite(kernel, step)

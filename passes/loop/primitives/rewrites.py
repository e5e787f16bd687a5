"""Rewrites of primitives, registered for their classes with `@rewrites(Split)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl.dialects import func

from xrelay.dialects.loop import SchedulePrimitive, Tail
from xrelay.dialects.shared.op_making import copy
from xrelay.errors import ScheduleError
from xrelay.passes.loop.primitives.legality import check_tails, has_overlap
from xrelay.plugins import load_plugins
from xrelay.registrations import import_registrations, note_registration

Rewrite = Callable[[func.FuncOp, Any], None]
"""Changes the kernel in place; raises `ScheduleError` and leaves the kernel unchanged if this is not legal.

The second argument is an instance of the primitive's own class."""

RewriteT = TypeVar("RewriteT", bound=Rewrite)

_OWN = (
    "split", "fuse", "reorder", "tile", "unroll", "vectorize", "contract", "settle", "parallelize", "cache_read",
    "cache_write", "compute_at", "set_tail", "disable_unroll", "guard",
    "partial_sums",
)  # fmt: skip

REWRITES: dict[str, Rewrite | str] = {name: f"xrelay.passes.loop.{name}" for name in _OWN}
"""Maps the name of a primitive to its function, or to the module that registers it on first use."""


def rewrites(primitive: type[SchedulePrimitive]) -> Callable[[RewriteT], RewriteT]:
    """Decorator that registers a function as the rewrite of a primitive, which `register_primitive` has registered."""

    def register(rewrite: RewriteT) -> RewriteT:
        REWRITES[primitive.primitive] = rewrite
        note_registration(rewrite)
        return rewrite

    return register


def rewrite_of(primitive: type[SchedulePrimitive]) -> Rewrite:
    """The rewrite of a primitive; raises `ScheduleError` if none is registered."""
    name = primitive.primitive
    if name not in REWRITES:
        load_plugins("schedules")
    if isinstance(module := REWRITES.get(name), str):
        import_registrations([module])
    rewrite = REWRITES.get(name)
    if rewrite is None or isinstance(rewrite, str):
        raise ScheduleError(f"primitive '{name}' has no rewrite", help="register one with @rewrites")
    return rewrite


def apply_primitive(kernel: func.FuncOp, step: SchedulePrimitive) -> None:
    """Applies one primitive to a kernel, in place.

    Raises `ScheduleError` with the primitive, its loop or block, the reason and advice; the kernel is then unchanged.
    """
    if (problem := step.problem()) is not None:
        raise ScheduleError(f"{step.primitive}: {problem}", help="see the primitive's documentation")
    rewrite = rewrite_of(type(step))
    if getattr(step, "tail", None) is Tail.OVERLAP or has_overlap(kernel):
        # Whether the last tiles can be moved back is found by moving them, in a copy, before the kernel is changed.
        trial = copy(kernel)
        rewrite(trial, step)
        check_tails(trial, step)
    rewrite(kernel, step)

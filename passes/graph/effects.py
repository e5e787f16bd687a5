"""Which ops have side effects, each asked once.

xDSL looks at everything inside of an op each time it is asked, by recursion: branches in branches cost the square of
their depth, and some hundred of them end the interpreter's stack.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation
from xdsl.traits import MemoryEffect, NoMemoryEffect, RecursiveMemoryEffect, is_side_effect_free

from xrelay.passes.infra.verify import walk_ops


def is_pure(op: Operation) -> bool:
    """Whether `op`, what is inside of it included, has no side effects for sure; of most ops the class tells."""
    return _is_pure_class(type(op)) or is_side_effect_free(op)


@cache
def _is_pure_class(op: type[Operation]) -> bool:
    effects = op.get_traits_of_type(MemoryEffect)
    return bool(effects) and all(isinstance(effect, NoMemoryEffect) for effect in effects)


def side_effect_free_ops(top: Operation) -> set[Operation]:
    """Those of `top` and the ops in it that have no side effects; what is inside of a branch counts for the branch."""
    free: set[Operation] = set()
    # What is inside of an op comes before the op.
    for op in reversed(list(walk_ops(top))):
        if _is_pure_class(type(op)):
            free.add(op)
            continue
        kinds = op.get_traits_of_type(MemoryEffect)
        if len(kinds) == 1 and isinstance(kinds[0], RecursiveMemoryEffect):
            inside = (inner for region in op.regions for block in region.blocks for inner in block.ops)
            if all(inner in free for inner in inside):
                free.add(op)
        elif is_side_effect_free(op):
            free.add(op)
    return free

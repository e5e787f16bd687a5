"""Which ops have side effects, each asked once.

xDSL looks at everything inside of an op each time it is asked, by recursion: branches in branches cost the square of
their depth, and some hundred of them end the interpreter's stack.
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.traits import MemoryEffect, RecursiveMemoryEffect, is_side_effect_free

from xrelay.passes.infra.verify import walk_ops


def side_effect_free_ops(top: Operation) -> set[Operation]:
    """Those of `top` and the ops in it that have no side effects; what is inside of a branch counts for the branch."""
    free: set[Operation] = set()
    # What is inside of an op comes before the op.
    for op in reversed(list(walk_ops(top))):
        kinds = op.get_traits_of_type(MemoryEffect)
        if len(kinds) == 1 and isinstance(kinds[0], RecursiveMemoryEffect):
            inside = (inner for region in op.regions for block in region.blocks for inner in block.ops)
            if all(inner in free for inner in inside):
                free.add(op)
        elif is_side_effect_free(op):
            free.add(op)
    return free

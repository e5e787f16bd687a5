"""`dispose` frees the memory of what a pass has replaced as a whole, at once and without a search."""

from __future__ import annotations

from xdsl.ir import Region


def dispose(old: Region) -> None:
    """Take `old` apart, with all that is inside: neither its ops, nor values of theirs, may be looked at again.

    Ops, values and blocks refer to each other in circles, so that Python frees them no sooner than its collector has
    searched all young objects: for a level of a program that is written anew that costs more than to free it here, and
    the memory grows meanwhile. Values from outside that it uses live on.
    """
    regions = [old]
    for region in regions:
        for block in tuple(region.blocks):
            for op in tuple(block.ops):
                regions += op.regions
                op.operands = op.successors = ()
                vars(op).clear()
            vars(block).clear()
        vars(region).clear()

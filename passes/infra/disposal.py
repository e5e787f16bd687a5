"""`dispose` frees the memory of what a pass has replaced as a whole, at once and without a search."""

from __future__ import annotations

from xdsl.ir import Region

from xrelay.dialects.shared.op_lists import ops_in


def dispose(old: Region) -> None:
    """Take `old` apart, with all that is inside: neither its ops, nor values of theirs, may be looked at again.

    Ops, values and blocks refer to each other in circles, so that Python frees them no sooner than its collector has
    searched all young objects: for a level of a program that is written anew that costs more than to free it here, and
    the memory grows meanwhile. What is left to it are ops without content where a value was read more than once.
    `old` reads no value that lives on: it is a function's body, or has no operands any more.
    """
    regions = [old]
    for op in ops_in(old):
        regions += op.regions
        vars(op).clear()
    for region in regions:
        for block in tuple(region.blocks):
            vars(block).clear()
        vars(region).clear()

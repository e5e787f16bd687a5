"""`dispose` frees the memory of replaced IR at once, without the garbage collector."""

from __future__ import annotations

from xdsl.ir import Region

from xrelay.dialects.shared.op_lists import ops_in


def dispose(old: Region) -> None:
    """Clears `old` with all its contents: neither its ops nor their values may be accessed any more.

    Ops, values and blocks form reference cycles, so Python frees them only when its collector has searched all young
    objects. When a level of a program is rewritten completely, that costs more than freeing it here, and memory grows
    meanwhile. The collector still has to free empty ops whose values were read more than once.

    `old` must not use values that stay alive: it is a function's body, or has no operands any more.
    """
    regions = [old]
    for op in ops_in(old):
        regions += op.regions
        vars(op).clear()
    for region in regions:
        for block in tuple(region.blocks):
            vars(block).clear()
        vars(region).clear()

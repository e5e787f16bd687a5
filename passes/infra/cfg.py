"""The dominator tree of the blocks of a region."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Region


def dominator_tree_preorder(region: Region) -> Iterator[tuple[Block, int]]:
    """Returns the blocks of `region` that its entry reaches, with their depth, each after its immediate dominator.

    Immediate dominators by the iterative scheme of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    """
    order = _reverse_postorder(region)
    children: dict[Block, list[Block]] = {block: [] for block in order}
    idoms = _immediate_dominators(order)
    for block in order[1:]:
        children[idoms[block]].append(block)
    stack = [(order[0], 0)]
    while stack:
        block, depth = stack.pop()
        yield block, depth
        stack += ((child, depth + 1) for child in reversed(children[block]))


def _successors(block: Block) -> tuple[Block, ...]:
    """Returns the blocks that the terminator of `block` may branch to."""
    last = block.last_op
    return tuple(last.successors) if last is not None else ()


def _reverse_postorder(region: Region) -> list[Block]:
    """Returns the blocks that the entry reaches, each before its successors except along back edges."""
    entry = region.first_block
    if entry is None:
        return []
    seen = {entry}
    postorder: list[Block] = []
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(_successors(successor))))
                break
        else:
            postorder.append(block)
            stack.pop()
    return postorder[::-1]


def _immediate_dominators(order: list[Block]) -> dict[Block, Block]:
    """Returns the immediate dominator of each block of a reverse postorder; the entry is its own."""
    index = {block: i for i, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in _successors(block):
            if successor in index:
                predecessors[successor].append(block)
    idom = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in idom]
            best = known[0]
            for other in known[1:]:
                best = _meet(idom, index, best, other)
            if idom.get(block) is not best:
                idom[block] = best
                changed = True
    return idom


def _meet(idom: dict[Block, Block], index: dict[Block, int], left: Block, right: Block) -> Block:
    """Returns the closest block that dominates both."""
    while left is not right:
        while index[left] > index[right]:
            left = idom[left]
        while index[right] > index[left]:
            right = idom[right]
    return left

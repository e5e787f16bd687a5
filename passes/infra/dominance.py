"""Checks the SSA rule that xDSL's verifier omits: a value is defined before its uses, and visible there.

One traversal of the module in dominance order keeps the set of visible values: entering a block adds its arguments,
passing an op adds its results, and leaving a block's subtree of the dominator tree removes the values added there. The
cost is linear in ops, operands and edges; an explicit stack avoids recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from xrelay.dialects.shared.locations import location_of
from xrelay.errors import VerificationError
from xrelay.passes.infra.cfg import dominator_tree_preorder


def verify_dominance(module: Operation) -> None:
    """Raises `VerificationError` for the first use in `module` that its definition does not dominate."""
    for error in dominance_errors(module):
        raise error


def dominance_errors(module: Operation) -> Iterator[VerificationError]:
    """Yields an error for each use in `module` of a value that is not visible there, in the order of the traversal."""
    visible: dict[SSAValue, int] = {}
    stack: list[_Visit | _Leave] = []
    isolations = 0
    _push_regions(stack, module, isolations)
    while stack:
        task = stack.pop()
        if isinstance(task, _Leave):
            for value in task.defined:
                del visible[value]
            continue
        task.resume(visible)
        for op in task.ops:
            for operand in op.operands:
                if visible.get(operand) != task.isolation:
                    yield _use_error(op, operand)
            if op.regions:
                isolation = task.isolation
                if op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
                    isolation = isolations = isolations + 1
                task.passing = op
                stack.append(task)
                _push_regions(stack, op, isolation)
                break
            task.define(op.results, visible)


@dataclass(slots=True)
class _Leave:
    """The end of a block's subtree, which removes the values defined there."""

    defined: list[SSAValue]


@dataclass(slots=True)
class _Visit:
    """A block being traversed. `isolation` numbers the isolated region around it: only its values are visible."""

    block: Block
    isolation: int
    defined: list[SSAValue]
    ops: Iterator[Operation] = field(init=False)
    passing: Operation | None = None
    """The op whose regions are being traversed; its results become visible after them."""
    entered: bool = False

    def __post_init__(self) -> None:
        self.ops = iter(self.block.ops)

    def resume(self, visible: dict[SSAValue, int]) -> None:
        """Begins with the block's arguments, or continues after the regions of an op."""
        if not self.entered:
            self.entered = True
            self.define(self.block.args, visible)
        if self.passing is not None:
            self.define(self.passing.results, visible)
            self.passing = None

    def define(self, values: tuple[SSAValue, ...] | list[OpResult], visible: dict[SSAValue, int]) -> None:
        """Makes `values` visible until the end of the block's subtree."""
        for value in values:
            visible[value] = self.isolation
            self.defined.append(value)


def _push_regions(stack: list[_Visit | _Leave], op: Operation, isolation: int) -> None:
    """Pushes the traversal of the regions of `op`, first region first."""
    plan: list[_Visit | _Leave] = []
    for region in op.regions:
        plan += _plan_region(region, isolation)
    stack += reversed(plan)


def _plan_region(region: Region, isolation: int) -> list[_Visit | _Leave]:
    """Returns visits of the blocks of a region in preorder of its dominator tree.

    Unreachable blocks are omitted: no path leads through them, so every definition dominates them.
    """
    if region.first_block is None:
        return []
    if region.first_block is region.last_block:
        defined: list[SSAValue] = []
        return [_Visit(region.first_block, isolation, defined), _Leave(defined)]
    plan: list[_Visit | _Leave] = []
    open_blocks: list[_Leave] = []
    for block, depth in dominator_tree_preorder(region):
        while len(open_blocks) > depth:
            plan.append(open_blocks.pop())
        visit = _Visit(block, isolation, [])
        plan.append(visit)
        open_blocks.append(_Leave(visit.defined))
    return plan + open_blocks[::-1]


def _use_error(op: Operation, operand: SSAValue) -> VerificationError:
    """Returns the error for a use without a visible definition."""
    name = f"%{operand.name_hint}" if operand.name_hint is not None else "an operand"
    owner = operand.owner
    defined = location_of(owner) if isinstance(owner, Operation) else None
    where = f" (defined at {defined})" if defined is not None else ""
    return VerificationError(
        f"{op.name} uses {name} where its definition{where} is not visible: "
        "it comes later, lies in another region, or outside an isolated one",
        location=location_of(op),
    )

"""Verification of a whole module: structure, symbols, every op's own constraints, and dominance.

xDSL's `Operation.verify` stops at the first failure, recurses into regions and does not report the failing op. This
traversal is flat, reports every failing op with its source location, and also finds uses before definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import first_ops
from xrelay.dialects.upstream.checks import check_upstream, is_upstream
from xrelay.errors import VerificationError, XRelayError, one_line
from xrelay.passes.infra.digraph import post_order, reversed_edges
from xrelay.passes.infra.verifier_messages import help_for, reworded


def verify_module(module: Operation) -> None:
    """Raises the first `VerificationError` of `verification_errors`."""
    for error in verification_errors(module):
        raise error


def verification_errors(module: Operation) -> Iterator[VerificationError]:
    """Yields all errors of `module`: those of ops in program order, then uses without a visible definition.

    The verifier of a call may crash on an invalid function, such as one without a type; then only the function's error
    is reported. If there is no other error, a crash of a verifier of xDSL's dialects means that its op is incomplete.
    """
    faults: list[tuple[Operation, Exception]] = []
    is_wrong = False
    for op in walk_ops(module):
        for error in _op_errors(op, faults):
            is_wrong = True
            yield error
    for error in dominance_errors(module):
        is_wrong = True
        yield error
    if is_wrong:
        return
    for op, fault in faults:
        if not is_upstream(type(op)):
            raise fault
        message = f"{op.name} is malformed: a part is missing, of another kind, or out of range"
        yield VerificationError(message, location=location_of(op))


def _op_errors(op: Operation, faults: list[tuple[Operation, Exception]]) -> Iterator[VerificationError]:
    """Yields the errors of one op; a crash of its verifier is appended to `faults`."""
    wrong_symbols = list(_symbol_errors(op))
    yield from wrong_symbols
    if wrong_symbols:
        return
    try:
        message = _op_failure(op)
    except Exception as fault:  # a verifier of xDSL that accesses a missing part of another op
        faults.append((op, fault))
        return
    if message is not None:
        text = reworded(op, message)
        yield VerificationError(text, location=location_of(op), help=help_for(op, message))


def walk_ops(top: Operation, closed: Callable[[Operation], bool] | None = None) -> Iterator[Operation]:
    """Yields `top` and every op below it in program order, without recursion; yielded ops may be moved or erased.

    The ops in an op below `top` for which `closed` is true are not yielded.
    """
    yield top
    pending = first_ops(top)
    while pending:
        op = pending.pop()
        while op is not None:
            following = op.next_op
            yield op
            if op.regions and not (closed is not None and closed(op)):
                pending.append(following)
                pending += first_ops(op)
                break
            op = following


def _op_failure(op: Operation) -> str | None:
    """Returns the error of one op, including its regions' structure, in one line."""
    try:
        if (message := _structure_failure(op)) is not None:
            return message
        op.verify_()
        check_upstream(op)
    except VerifyException as error:
        return one_line(str(error))
    except XRelayError as error:
        return one_line(error.message)
    except Exception as error:
        # Some verifiers of xDSL raise `Exception` itself for invalid programs; other exceptions are crashes.
        if type(error) is not Exception:
            raise
        return f"{op.name}: {one_line(str(error))}"
    return None


def _structure_failure(op: Operation) -> str | None:
    """Returns the error in the blocks of `op`'s regions, or in the position of `op` in its own block."""
    block = op.parent
    if op.successors:
        if block is None or block.last_op is not op:
            return f"{op.name} has successors but does not end its block"
        if any(successor.parent is not block.parent for successor in op.successors):
            return f"{op.name} branches to a block of another region"
    for region in op.regions:
        single = region.first_block is region.last_block
        if single and op.has_trait(NoTerminator):
            continue
        for inner in region.blocks:
            if (message := _end_failure(op, inner)) is not None:
                return message
    return None


def _end_failure(op: Operation, block: Block) -> str | None:
    """Returns the error at the end of a block that needs a terminator."""
    last = block.last_op
    if last is None:
        return f"a block of {op.name} is empty, but must end in a terminator"
    if not last.has_trait(IsTerminator, value_if_unregistered=True):
        return f"a block of {op.name} ends in {last.name}, which is not a terminator"
    return None


def _symbol_errors(table: Operation) -> Iterator[VerificationError]:
    """Yields errors of the symbols in a table: duplicates, with a note at the first definition, and visibilities.

    xDSL reports only the first duplicate, at the location of the module, and accepts any visibility.
    """
    if not table.has_trait(SymbolTable, value_if_unregistered=False):
        return
    first: dict[str, Operation] = {}
    for op in (op for region in table.regions for block in region.blocks for op in block.ops):
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr) and (known := first.setdefault(name.data, op)) is not op:
            error = VerificationError(f"the symbol @{name.data} is already defined", location=location_of(op))
            if (place := location_of(known)) is not None:
                error.add_place("the first definition", place)
            yield error
        visibility = op.get_attr_or_prop("sym_visibility")
        if isinstance(visibility, StringAttr) and visibility.data not in ("public", "private", "nested"):
            text = f"the visibility of a symbol must be public, private or nested, found {visibility}"
            yield VerificationError(text, location=location_of(op))


def dominance_errors(module: Operation) -> Iterator[VerificationError]:
    """Yields an error for each use in `module` of a value that is not visible there.

    xDSL's verifier omits this rule of SSA. One traversal in dominance order keeps the visible values, so that the cost
    is linear in ops, operands and edges; a stack of visits avoids recursion.
    """
    visible: dict[SSAValue, Operation] = {}
    stack: list[_Visit] = [*_visits(module, module, visible)]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        elif isinstance(step, VerificationError):
            yield step
        else:
            stack += reversed(step)


_Visit: TypeAlias = "Iterator[VerificationError | list[_Visit]]"
"""The traversal of a block: yields errors, and visits of other blocks that run before it continues."""


def _visits(op: Operation, scope: Operation, visible: dict[SSAValue, Operation]) -> list[_Visit]:
    """Returns visits of the entry blocks of the regions of `op`."""
    trees = [(region.first_block, _dominator_tree(region)) for region in op.regions]
    return [_visit(entry, tree, scope, visible) for entry, tree in trees if entry is not None]


def _visit(
    block: Block, tree: dict[Block, list[Block]], scope: Operation, visible: dict[SSAValue, Operation]
) -> _Visit:
    """Visits `block`, then the blocks that it dominates. Only values with the same isolated op `scope` are visible."""
    defined: list[SSAValue] = [*block.args]
    visible |= dict.fromkeys(defined, scope)
    for op in block.ops:
        for operand in op.operands:
            if visible.get(operand) is not scope:
                yield _use_error(op, operand)
        if op.regions:
            isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            yield _visits(op, op if isolated else scope, visible)
        for result in op.results:
            visible[result] = scope
            defined.append(result)
    yield [_visit(child, tree, scope, visible) for child in tree[block]]
    for value in defined:
        del visible[value]


def _use_error(op: Operation, operand: SSAValue) -> VerificationError:
    """Returns the error for a use without a visible definition."""
    name = f"%{operand.name_hint}" if operand.name_hint is not None else "an operand"
    owner = operand.owner
    defined = location_of(owner) if isinstance(owner, Operation) else None
    where = f" (defined at {defined})" if defined is not None else ""
    return VerificationError(
        f"{op.name} uses {name}, whose definition{where} is not visible: "
        "it follows, is in another region, or is outside of an isolated region",
        location=location_of(op),
    )


def _dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """Returns the blocks that the entry of a region reaches, each with the blocks that it immediately dominates.

    Every definition dominates an unreachable block. The iterative scheme is that of Cooper, Harvey and Kennedy, "A
    Simple, Fast Dominance Algorithm".
    """
    if region.first_block is region.last_block:
        return {block: [] for block in region.blocks}
    order = post_order([next(iter(region.blocks))], _successors)[::-1]
    index = {block: number for number, block in enumerate(order)}
    predecessors = reversed_edges({block: _successors(block) for block in order})
    idoms = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            best, *others = [other for other in predecessors[block] if other in idoms]
            for other in others:
                best = _common_dominator(idoms, index, best, other)
            changed |= idoms.get(block) is not best
            idoms[block] = best
    tree: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order[1:]:
        tree[idoms[block]].append(block)
    return tree


def _successors(block: Block) -> tuple[Block, ...]:
    """Returns the blocks that the terminator of `block` may branch to."""
    last = block.last_op
    return tuple(last.successors) if last is not None else ()


def _common_dominator(idoms: dict[Block, Block], index: dict[Block, int], left: Block, right: Block) -> Block:
    """Returns the closest block that dominates both."""
    while left is not right:
        while index[left] > index[right]:
            left = idoms[left]
        while index[right] > index[left]:
            right = idoms[right]
    return left

"""One op for all that compute the same on the same operands, where the first of them is in sight of the others."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import memref, vector
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.shared.attribute_names import NOALIAS
from xrelay.lowering.loop_to_scf.op_facts import Effects, facts_of

_LOADS = frozenset[type[Operation]]((memref.LoadOp, vector.LoadOp))
_Known = dict[Hashable, Operation]
"""The ops that were met, by what they compute."""


def share_equal_ops(function: Operation) -> None:
    """Lets ops under `function` that compute the same be one; each of its regions has at most one block.

    Ops without effects are shared with those before them in their block and around it, and so are loads of what nothing
    writes as long as the function runs. Other ops that read memory are shared only within one block, as long as nothing
    writes between them. xDSL's `cse` decides so too, but for the loads.
    """
    unwritten = _unwritten(function) if isinstance(function, FuncOp) else frozenset[SSAValue]()
    for region in function.regions:
        for block in region.blocks:
            _share_in(block, {}, unwritten)


def _unwritten(function: FuncOp) -> frozenset[SSAValue]:
    """The buffers that a function is given, that overlap no other (`llvm.noalias`), and that it only loads from."""
    if function.arg_attrs is None:
        return frozenset()
    pairs = zip(function.body.block.args, function.arg_attrs.data, strict=True)
    alone = {argument for argument, flags in pairs if NOALIAS in flags.data}
    return frozenset(each for each in alone if all(type(use.operation) in _LOADS for use in each.uses))


def _share_in(block: Block, known: _Known, unwritten: frozenset[SSAValue]) -> Effects:
    """Shares the ops of a block, `known` those that stand around it; gives what running the block does to memory."""
    added: list[Hashable] = []
    read: _Known = {}
    total = Effects.NONE
    for op in block.ops:
        facts = facts_of(op)
        effects = Effects.NONE if type(op) in _LOADS and op.operands[0] in unwritten else facts.effects
        if op.regions:
            inside = _share_under(op, {} if facts.is_isolated else known, unwritten)
            effects = max(effects, inside) if facts.is_recursive else effects
        total = max(total, effects)
        if facts.is_terminator or effects > Effects.READS:
            if effects is Effects.WRITES:
                read.clear()
            continue
        table, key = (read if effects is Effects.READS else known), _what_it_computes(op)
        existing = table.get(key)
        if existing is not None and not _is_same(op, existing):
            # Seldom, so that the first look does without types: views of one place as buffers of several types.
            key = key, tuple(op.result_types)
            existing = table.get(key)
        if existing is not None and _is_same(op, existing):
            _replace(op, existing)
        elif existing is None:
            table[key] = op
            if table is known:
                added.append(key)
    for key in added:
        del known[key]
    return total


def _share_under(op: Operation, known: _Known, unwritten: frozenset[SSAValue]) -> Effects:
    return max(
        [_share_in(block, known, unwritten) for region in op.regions for block in region.blocks], default=Effects.NONE
    )


def _what_it_computes(op: Operation) -> Hashable:
    """What is the same for ops that compute the same; ops that differ in regions or result types may have it too.

    The name stands for the class: two classes may define one op, where a constructor of xDSL lacks something.
    """
    operands = tuple(map(id, op.operands))
    if not op.attributes and len(op.properties) == 1:
        # Of constants and conversions, the most frequent by far: no set of one needs to be made.
        ((_, attribute),) = op.properties.items()
        return op.name, operands, attribute
    return op.name, operands, frozenset(op.properties.items()), frozenset(op.attributes.items())


def _is_same(op: Operation, other: Operation) -> bool:
    if op.result_types != other.result_types:
        return False
    pairs = zip(op.regions, other.regions, strict=True)
    return all(mine.is_structurally_equivalent(its) for mine, its in pairs)


def _replace(op: Operation, existing: Operation) -> None:
    for old, new in zip(op.results, existing.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()

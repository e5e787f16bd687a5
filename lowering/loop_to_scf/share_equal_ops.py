"""Common subexpression elimination: an op is replaced with an equal op that dominates it."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import memref, vector
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.shared.attribute_names import NOALIAS
from xrelay.lowering.loop_to_scf.op_facts import Effects, facts_of

_LOADS = frozenset[type[Operation]]((memref.LoadOp, vector.LoadOp))
_Known = dict[Hashable, Operation]
"""Visited ops, by a key of their computation."""


def share_equal_ops(function: Operation) -> None:
    """Merges ops under `function` that compute the same; each of its regions has at most one block.

    An op without effects is merged with an equal one before it, in its block or around it, and so is a load from a
    buffer that the function never writes. Other ops that read memory are merged only within one block, without writes
    in between. Except for the loads, this matches xDSL's `cse`.
    """
    unwritten = _unwritten(function) if isinstance(function, FuncOp) else frozenset[SSAValue]()
    for region in function.regions:
        for block in region.blocks:
            _share_in(block, {}, unwritten)


def _unwritten(function: FuncOp) -> frozenset[SSAValue]:
    """Returns the arguments that overlap no other (`llvm.noalias`) and are only loaded from."""
    if function.arg_attrs is None:
        return frozenset()
    pairs = zip(function.body.block.args, function.arg_attrs.data, strict=True)
    alone = {argument for argument, flags in pairs if NOALIAS in flags.data}
    return frozenset(each for each in alone if all(type(use.operation) in _LOADS for use in each.uses))


def _share_in(block: Block, known: _Known, unwritten: frozenset[SSAValue]) -> Effects:
    """Merges the ops of a block, given the ops `known` around it; returns the block's memory effect."""
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
            # A rare case, so the first key has no types: views of one place as buffers of several types.
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
    """Returns a key that equal ops share; ops that differ only in regions or result types share it too.

    The key contains the op's name, not its class: a second class may define an op if xDSL's constructor lacks
    something.
    """
    operands = tuple(map(id, op.operands))
    if not op.attributes and len(op.properties) == 1:
        # Constants and conversions are by far the most frequent: a single property needs no set.
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

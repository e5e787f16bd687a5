"""Signatures without tuples: each tuple parameter or result is replaced by its leaves."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TupleType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.shared.types import tuple_type
from xrelay.passes.graph.tuple_leaves import leaf_types, rebuild


def flatten_arguments(body: Region) -> None:
    """Replaces the tuple arguments of the block of `body` by their leaves, and rebuilds the tuples at its start.

    Builds a new block: inserting arguments one by one would copy all of them each time.
    """
    old = body.block
    if not any(isinstance(argument.type, TupleType) for argument in old.args):
        return
    new = Block(arg_types=leaf_types(old.arg_types))
    body.add_block(new)
    sources = [argument for argument in old.args for _ in leaf_types([argument.type])]
    for leaf, source in zip(new.args, sources, strict=True):
        leaf.name_hint, leaf.location = source.name_hint, source.location
    values: list[SSAValue] = []
    leaves = iter(new.args)
    for argument in old.args:
        value, ops = rebuild(argument.type, leaves)
        new.add_ops(ops)
        values.append(value)
    Rewriter.inline_block(old, InsertPoint.at_end(new), values)


def flat_type(type: Attribute) -> Attribute:
    """The tuple type of the leaves of a tuple type; any other type unchanged."""
    if not isinstance(type, TupleType):
        return type
    return tuple_type(leaf_types([type]))


def repeated(
    attributes: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]
) -> ArrayAttr[DictionaryAttr] | None:
    """Attributes of parameters or results, repeated for each leaf of a tuple."""
    if attributes is None:
        return None
    pairs = zip(attributes.data, types, strict=True)
    return ArrayAttr([attribute for attribute, type in pairs for _ in leaf_types([type])])

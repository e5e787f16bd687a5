"""Sequences and optionals whose values are known while a model is imported: they need not be values of the program.

The importer makes every sequence that it knows by a `relay.sequence_construct` of all its values, so the values can be
read off wherever the sequence is used, and a sequence that is only taken apart is used by nothing in the end.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.optionals import OptionalConstructOp
from xrelay.dialects.relay.structure.sequences import SequenceConstructOp, SequenceEmptyOp

MOST_VALUES = 1024
"""A sequence that grows beyond this many values is one of the program: each that it grows through lists them all."""


def values_of_sequence(sequence: SSAValue) -> tuple[SSAValue, ...] | None:
    """Returns the values of a sequence; `None` where they are not known."""
    if isinstance(sequence.owner, SequenceEmptyOp):
        return ()
    return tuple(sequence.owner.values) if isinstance(sequence.owner, SequenceConstructOp) else None


def value_of_optional(optional: SSAValue) -> tuple[SSAValue, ...] | None:
    """Returns the value of an optional, or nothing of one without; `None` where that is not known."""
    return tuple(optional.owner.value) if isinstance(optional.owner, OptionalConstructOp) else None


def without_containers(result: SSAValue) -> tuple[SSAValue, ...]:
    """Returns what stands for a result of the model: the value of an optional, and the values of a sequence.

    A sequence without values, an optional without one and what is not known stand for themselves.
    """
    (value,) = value_of_optional(result) or (result,)
    return values_of_sequence(value) or (value,)

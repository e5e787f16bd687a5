"""Sequences and optionals whose values are known at import, so that the program need not construct them.

The importer builds every sequence that it knows as one `relay.sequence_construct` of all its values, so ops that read
the sequence can use the values directly. A sequence that only such ops use has no uses in the end.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.containers import OptionalConstructOp, SequenceConstructOp, SequenceEmptyOp

MAX_VALUES = 1024
"""The maximum number of values of a known sequence: each sequence in a chain of insertions lists all its values."""


def values_of_sequence(sequence: SSAValue) -> tuple[SSAValue, ...] | None:
    """Returns the values of a sequence; `None` if they are not known."""
    if isinstance(sequence.owner, SequenceEmptyOp):
        return ()
    return tuple(sequence.owner.values) if isinstance(sequence.owner, SequenceConstructOp) else None


def value_of_optional(optional: SSAValue) -> tuple[SSAValue, ...] | None:
    """Returns the value of an optional in a tuple, an empty tuple for an empty optional; `None` if it is not known."""
    return tuple(optional.owner.value) if isinstance(optional.owner, OptionalConstructOp) else None


def without_containers(result: SSAValue) -> tuple[SSAValue, ...]:
    """Returns the tensors of a result of the model: the value of an optional, and the values of a sequence.

    An empty sequence, an empty optional and an unknown container are returned as they are.
    """
    (value,) = value_of_optional(result) or (result,)
    return values_of_sequence(value) or (value,)

"""The relay dialect: deep-learning programs on whole tensors, with Relay's operators under Relay's names."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, Dialect, Operation

from xrelay.dialects.relay.core.registry import DIALECT_OPS, import_operators
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.closures import CLOSURE_OPS
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.containers import OPTIONAL_OPS, SEQUENCE_OPS, FailOp
from xrelay.dialects.relay.structure.extents import EXTENT_OPS
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.dims_attr import DimBindingsAttr, DimsAttr
from xrelay.dialects.shared.requirements import BoundsAttr, RequirementsAttr
from xrelay.dialects.shared.types import ClosureType, IncompleteType, OptionalType, SequenceType
from xrelay.plugins import load_plugins

import_operators()

LANGUAGE = (
    ConstantOp,
    TupleOp,
    TupleGetItemOp,
    *SEQUENCE_OPS,
    *OPTIONAL_OPS,
    *CLOSURE_OPS,
    *EXTENT_OPS,
    FailOp,
    LetOp,
    IfOp,
    LoopOp,
    FnOp,
    InvokeOp,
    NamedCallOp,
    FusedOp,
    YieldOp,
)
"""The ops of the language itself, which are not operators."""


class RelayDialect(Dialect):
    """The relay dialect, including the ops of other packages.

    Other packages are imported when the ops are first used, because their modules import parts of this one.
    """

    @property
    def operations(self) -> Iterator[type[Operation]]:
        """Every op, including those of other packages."""
        load_plugins("ops")
        return iter(DIALECT_OPS)


TYPES_AND_ATTRIBUTES: list[type[Attribute]] = [
    IncompleteType,
    SequenceType,
    OptionalType,
    ClosureType,
    BoundsAttr,
    DimsAttr,
    DimBindingsAttr,
    RequirementsAttr,
    WeightAttr,
]

DIALECT_OPS.extend(LANGUAGE)
RELAY = RelayDialect("relay", DIALECT_OPS, TYPES_AND_ATTRIBUTES)

__all__ = ["LANGUAGE", "RELAY"]

"""Relay's names that stand in `tvm.ir`.

Modules of functions, attributes of operators, what quantised integers stand for, and when programs are equal.
"""

from __future__ import annotations

from xrelay.relay.affine_types import TensorAffineType, TupleAffineType
from xrelay.relay.module import IRModule
from xrelay.relay.op_attributes import register_op_attr
from xrelay.relay.structural_equality import assert_structural_equal, structural_equal, structural_hash

__all__ = [
    "IRModule",
    "TensorAffineType",
    "TupleAffineType",
    "assert_structural_equal",
    "register_op_attr",
    "structural_equal",
    "structural_hash",
]

"""Relay's names that stand in `tvm.ir`.

Modules of functions, attributes of operators, what quantised integers stand for, when programs are equal, and programs
as JSON.
"""

from __future__ import annotations

from xrelay.relay.affine_types import TensorAffineType, TupleAffineType
from xrelay.relay.json_form import load_json, save_json
from xrelay.relay.module import IRModule
from xrelay.relay.op_attributes import register_op_attr
from xrelay.relay.structural_equality import assert_structural_equal, structural_equal, structural_hash

__all__ = [
    "IRModule",
    "TensorAffineType",
    "TupleAffineType",
    "assert_structural_equal",
    "load_json",
    "register_op_attr",
    "save_json",
    "structural_equal",
    "structural_hash",
]

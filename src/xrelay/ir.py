"""The names of `tvm.ir`.

`IRModule`, operator attributes, affine types of quantised tensors, structural equality, and JSON form.
"""

from __future__ import annotations

from xrelay.relay.json_form import load_json, save_json
from xrelay.relay.module import IRModule
from xrelay.relay.op.attributes import register_op_attr
from xrelay.relay.op.hooks import TensorAffineType, TupleAffineType
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

"""Decides whether a proposed node is valid, and for which values of its inputs.

The importer or onnxruntime must accept the node. A node that onnxruntime runs and the importer rejects is kept, as a
finding, unless its converter declares `limits`. If an op of the node reduces, inputs are finite, because reordered sums
round differently and maxima of NaN are unspecified. If the interpreter fails on zeros, as integer division does, inputs
have no zeros. If it also fails on ones and on the largest indices, the node is invalid.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from fuzz.onnx_draft import random_inputs
from fuzz.onnx_oracles import onnxruntime_outputs
from fuzz.special_values import Array, random_array
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.errors import InterpreterError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.frontend.onnx.registry import find_converter
from xrelay.interpreters.relay import run_relay

OPEN = ("any", "small")
"""Domains that are not specific to the op."""


def accepted(rng: np.random.Generator, model: onnx.ModelProto) -> bool:
    """Whether a node is valid; narrows the domains of its operands to values for which it is."""
    try:
        module = import_onnx(model)
    except XRelayError:
        return not _is_limited(model) and onnxruntime_outputs(model, random_inputs(rng, model)) is not None
    if _reduces(module):
        _narrow(rng, model, {"any": "finite"})
    if _fails(module, model, zeros=True):
        _narrow(rng, model, dict.fromkeys(OPEN, "nonzero"))
    return not _fails(module, model, zeros=False)


def _fails(module: ModuleOp, model: onnx.ModelProto, *, zeros: bool) -> bool:
    """Whether the interpreter fails on inputs of zeros or ones; indices have their largest value."""
    inputs: list[Array] = []
    for info in model.graph.input:
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        last = int(info.doc_string.split()[2]) - 1 if info.doc_string.startswith("whole ") else int(not zeros)
        dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        inputs.append(np.full(shape, last).astype(dtype))
    try:
        run_relay(module, inputs)
    except InterpreterError:
        return True
    return False


def _is_limited(model: onnx.ModelProto) -> bool:
    (node,) = model.graph.node
    version = next(each.version for each in model.opset_import if each.domain == node.domain)
    converter = find_converter(node.op_type, node.domain, version)
    return converter is None or bool(converter.limits)


def _reduces(module: ModuleOp) -> bool:
    """Whether an element of some result depends on more than one element of an operand."""
    patterns = {op.fusion_pattern for op in module.walk() if isinstance(op, RelayOp)}
    return bool(patterns & {OpPatternKind.COMM_REDUCE, OpPatternKind.OUT_ELEM_WISE_FUSABLE, OpPatternKind.OPAQUE})


def _narrow(rng: np.random.Generator, model: onnx.ModelProto, domains: dict[str, str]) -> None:
    for info in model.graph.input:
        info.doc_string = domains.get(info.doc_string, info.doc_string)
    for tensor in model.graph.initializer:
        if domain := domains.get(tensor.doc_string):
            drawn = random_array(rng, tuple(tensor.dims), helper.tensor_dtype_to_np_dtype(tensor.data_type), domain)
            tensor.CopyFrom(numpy_helper.from_array(drawn, tensor.name))
            tensor.doc_string = domain

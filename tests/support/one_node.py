"""Runs models of one ONNX node by the interpreter and by native code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from support.onnx_models import model, value
from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]


def node_model(
    op: str,
    inputs: Sequence[Array | None],
    opset: int = 21,
    *,
    domain: str = "",
    domain_opset: int = 1,
    constants: Sequence[int] = (),
    dims: Mapping[int, Sequence[int | str]] | None = None,
    outputs: Sequence[str] = ("y",),
    **attributes: Any,
) -> onnx.ModelProto:
    """Builds a model of one node; inputs that are `None` are omitted, those in `constants` are initializers.

    `dims` overrides the shapes of inputs by index, to make them dynamic. An output named "" is omitted.
    """
    names = ["" if array is None else f"i{number}" for number, array in enumerate(inputs)]
    present = [(number, array) for number, array in enumerate(inputs) if array is not None]
    given = [
        value(names[number], (dims or {}).get(number, array.shape), helper.np_dtype_to_tensor_dtype(array.dtype))
        for number, array in present
        if number not in constants
    ]
    node = helper.make_node(op, names, list(outputs), domain=domain, **attributes)
    held = {names[number]: array for number, array in present if number in constants}
    made = model([node], given, [name for name in outputs if name], initializers=held, opset=opset)
    made.ir_version = 10
    if domain:
        made.opset_import.append(helper.make_opsetid(domain, domain_opset))
    return made


def inputs_by_name(proto: onnx.ModelProto, inputs: Sequence[Array | None]) -> dict[str, Array]:
    """Returns the arrays for the model's inputs, by name."""
    wanted = [info.name for info in proto.graph.input]
    return {f"i{number}": array for number, array in enumerate(inputs) if array is not None and f"i{number}" in wanted}


def both(proto: onnx.ModelProto, inputs: Sequence[Array | None]) -> list[list[Array]]:
    """Returns the outputs of the interpreter, and of native code."""
    arrays = list(inputs_by_name(proto, inputs).values())
    native = compile(proto, cache=False, threads=1).run(arrays)
    return [list(run_relay(import_onnx(proto), arrays)), [np.asarray(each) for each in native]]

"""Importers of foreign models with Relay's interface.

mod, params = relay.frontend.from_onnx(model, {"data": (1, 3, 224, 224)})
lib = relay.build(mod, "llvm", params=params)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import VALUE_NAME
from xrelay.errors import InputError
from xrelay.frontend.onnx.importer import ModelImport
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs
from xrelay.relay.module import IRModule

if TYPE_CHECKING:
    import onnx


def from_onnx(
    model: str | PathLike[str] | bytes | onnx.ModelProto,
    shape: Mapping[str, Sequence[int]] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = True,
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """Returns the module of an ONNX model and its parameters by name, for `relay.build`.

    `shape` sets the shapes of inputs by name. `dtype` is the type of inputs for which the model has none. `opset`
    replaces the opset version of the model. With `freeze_params` the weights are constants in the module and the
    parameters are empty. Without it the weights that operators read are further parameters of `@main`; those that
    determine attributes (axes, shapes, bounds) stay constants.

    Raises `InputError` for an opset below 1, and the errors of `xrelay.import_onnx`.
    """
    if opset is not None and opset < 1:
        raise InputError(f"there is no opset {opset}; the first is 1")
    imported = ModelImport(model, shapes=shape, dtypes=dtype, opset=opset)
    module = imported.module()
    weights = {} if freeze_params else imported.weights()
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    params = {name: value.owner for name, value in weights.items() if isinstance(value.owner, ConstantOp)}
    arrays = {name: constant.array for name, constant in params.items()}
    _make_parameters(function, params)
    return IRModule.of(module), arrays


def _make_parameters(function: FuncOp, constants: Mapping[str, ConstantOp]) -> None:
    """Replaces constants by additional parameters at the end."""
    block, attributes = function.body.block, list(argument_attrs(function))
    for name, constant in constants.items():
        argument = block.insert_arg(constant.result.type, len(block.args))
        argument.name_hint = constant.result.name_hint
        constant.result.replace_all_uses_with(argument)
        attributes.append({VALUE_NAME: StringAttr(name)})
        block.erase_op(constant)
    set_argument_attrs(function, attributes)
    function.function_type = FunctionType.from_lists(list(block.arg_types), list(function.function_type.outputs))

"""The ways of xrelay to run an ONNX model: the interpreter, and native code for several CPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from xdsl.dialects.builtin import ModuleOp

import xrelay
from fuzz.rounded_runs import run_rounded
from fuzz.special_values import Array
from xrelay.api.model import CompiledModel
from xrelay.errors import ExecutionError, InputError, InterpreterError, LoweringError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

TARGETS = ("cpu", "cpu -mcpu=haswell", "cpu -mcpu=x86-64")


def interpret(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array] | None:
    """The outputs of the relay interpreter; None if the importer rejects the model.

    Raises `InterpreterError` if the model fails on these inputs, as a division by zero does.
    """
    try:
        module = import_onnx(model)
    except ModelImportError:
        return None
    return [np.asarray(out) for out in run_relay(module, list(inputs.values()))]


def interpret_rounded(model: onnx.ModelProto, inputs: Mapping[str, Array], k: int) -> list[Array] | None:
    """The outputs with the k-th rounding of intermediate results; None also if the interpreter fails."""
    try:
        return run_rounded(import_onnx(model), list(inputs.values()), k)
    except (ModelImportError, InterpreterError):
        return None


def native(model: onnx.ModelProto, inputs: Mapping[str, Array], target: str, level: int) -> Sequence[Array] | None:
    """The outputs of compiled code; None without a native form. Raises `ExecutionError` if the model fails."""
    try:
        compiled = xrelay.compile(model, target=target, opt_level=level, threads=1, cache=False)
    except LoweringError:
        return None
    return compiled.run(dict(inputs))


def outcomes(module: ModuleOp, compiled: CompiledModel, inputs: Mapping[str, Array]) -> tuple[object, object]:
    """The outputs of native code and of the interpreter, or the message of the error."""
    try:
        expected = run_relay(module, list(inputs.values()))
    except InterpreterError as error:
        expected = error.message
    try:
        return compiled.run(dict(inputs)), expected
    except (ExecutionError, InputError) as error:
        return error.message, expected

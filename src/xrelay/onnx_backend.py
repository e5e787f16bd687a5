"""onnx's backend interface: `prepare`, `run_model`, `run_node`, `supports_device`, `is_compatible`.

    import onnx.backend.test
    import xrelay.onnx_backend

    tests = onnx.backend.test.BackendTest(xrelay.onnx_backend, __name__)

`xrelay.compile` compiles the model for the CPU. Results are named tuples of the outputs. A valid model that xrelay
refuses raises `RefusedModelError`, which makes onnx's tests skip it as an op that the backend is not supposed to
implement. An invalid model raises the error of `xrelay.compile`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
import onnx
from numpy.typing import DTypeLike
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from xrelay.api.compile import compile
from xrelay.api.declared_outputs import declared_values
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError, ModelImportError, XRelayError, did_you_mean
from xrelay.frontend.onnx.importer import import_onnx
from xrelay.frontend.onnx.signature import graph_inputs
from xrelay.frontend.onnx.validity import is_valid
from xrelay.runtime.inputs import is_mapping

DEVICES: Final = ("CPU", "CPU:0")

_COMPILE_OPTIONS: Final = ("target", "opt_level", "threads", "shapes", "cache", "memory_limit")
_TEST_OPTIONS: Final = ("rtol", "atol")
"""Options that onnx's tests pass to every backend and evaluate themselves."""


class RefusedModelError(ModelImportError, BackendIsNotSupposedToImplementIt):
    """A valid model that xrelay does not compile; the message has the reason."""


class XRelayBackendRep(BackendRep):
    """A compiled model, ready to run."""

    def __init__(self, model: CompiledModel, graph: onnx.GraphProto):
        """Wraps `model`, compiled from `graph`."""
        self.model = model
        self._inputs = [value.name for value in graph_inputs(graph)]
        self._are_sequences = [_is_sequence(output.type) for output in graph.output]
        self._tuple = namedtupledict("Outputs", [output.name for output in graph.output])

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Returns the outputs for inputs in order, by name, or for a single input; `kwargs` as for `CompiledModel.run`.

        Sequences are lists, and an empty optional is `None`. Inputs that the compiled model does not use are ignored.
        """
        given = inputs if is_mapping(inputs) else self._by_name(_in_order(inputs))
        left_out = set(self._inputs) - set(self.model.input_names)
        feeds = {name: value for name, value in given.items() if name not in left_out}
        values = self.model.run(feeds, **kwargs)
        return self._tuple(*declared_values(self._are_sequences, self.model.outputs, values))

    def _by_name(self, inputs: Sequence[object]) -> dict[str, object]:
        """Returns positional inputs by name. Raises `InputError` if their number is wrong."""
        if len(inputs) != len(self._inputs):
            raise InputError(f"expected {len(self._inputs)} inputs ({', '.join(self._inputs)}), got {len(inputs)}")
        return dict(zip(self._inputs, inputs, strict=True))


class XRelayBackend(Backend):
    """xrelay as a backend of onnx. The functions of this module are its methods."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the device exists and the model can be imported. Lowering may still refuse it in `prepare`."""
        if not cls.supports_device(device):
            return False
        try:
            import_onnx(model, shapes=kwargs.get("shapes"))
        except XRelayError:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> XRelayBackendRep:
        """Compiles the model; `kwargs` are options of `xrelay.compile`.

        Raises `RefusedModelError` for a valid model that is refused, `InputError` for an unknown device or option, and
        the error of `xrelay.compile` for an invalid model.
        """
        if not cls.supports_device(device):
            raise InputError(f"unknown device {device!r}", help="use 'CPU'")
        try:
            compiled = compile(model, **_options(kwargs))
        except InputError:
            raise
        except XRelayError as error:
            if not is_valid(model):
                raise
            raise RefusedModelError(error.message, location=error.location, help=error.help) from error
        return XRelayBackendRep(compiled, model.graph)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Compiles a model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[DTypeLike, Sequence[int]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs a single node and returns its outputs. `inputs` are in order, without absent optional inputs.

        `opset_version` defaults to the newest. `outputs_info` has the dtype and shape of each output.
        """
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        given = _in_order(inputs)
        names = [name for name in node.input if name]
        if len(given) != len(names):
            raise InputError(f"the node {node.op_type} has {len(names)} inputs ({', '.join(names)}), got {len(given)}")
        feeds = dict(zip(names, given, strict=True))
        return cls.run_model(_model_of(node, feeds, outputs_info, opset), feeds, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is the CPU."""
        return device in DEVICES


is_compatible = XRelayBackend.is_compatible
prepare = XRelayBackend.prepare
run_model = XRelayBackend.run_model
run_node = XRelayBackend.run_node
supports_device = XRelayBackend.supports_device


def _in_order(inputs: object) -> Sequence[object]:
    """Returns inputs in order; a value that is not a list or tuple is the single input."""
    return cast("Sequence[object]", inputs) if isinstance(inputs, list | tuple) else [inputs]


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of `compile` among `given`. Raises `InputError` for an unknown option."""
    for name in given:
        if name not in (*_COMPILE_OPTIONS, *_TEST_OPTIONS):
            hint = did_you_mean(name, _COMPILE_OPTIONS, f"the options are {', '.join(_COMPILE_OPTIONS)}")
            raise InputError(f"unknown option {name!r}", help=hint)
    return {name: value for name, value in given.items() if name in _COMPILE_OPTIONS}


def _is_sequence(type: onnx.TypeProto) -> bool:
    """Whether a type is a sequence or an optional sequence."""
    inner = type.optional_type.elem_type if type.HasField("optional_type") else type
    return inner.HasField("sequence_type")


def _model_of(
    node: onnx.NodeProto,
    feeds: Mapping[str, object],
    outputs_info: Sequence[tuple[DTypeLike, Sequence[int]]] | None,
    opset: int,
) -> onnx.ModelProto:
    """Returns a model of a single node whose input types are those of `feeds`."""
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    for output, (dtype, shape) in zip(outputs, outputs_info or (), strict=False):
        output.type.CopyFrom(_tensor_type(np.dtype(dtype), shape))
    inputs = [onnx.ValueInfoProto(name=name, type=_type_of(value)) for name, value in feeds.items()]
    graph = onnx.helper.make_graph([node], node.op_type, inputs, outputs)
    opsets = [onnx.helper.make_opsetid(node.domain, opset)]
    if node.domain:
        opsets.append(onnx.helper.make_opsetid("", onnx.defs.onnx_opset_version()))
    return onnx.shape_inference.infer_shapes(onnx.helper.make_model(graph, opset_imports=opsets))


def _type_of(value: object) -> onnx.TypeProto:
    """Returns the type of an array or a list of arrays of one dtype; extents in which arrays differ are dynamic."""
    if isinstance(value, list | tuple):
        held = [np.asarray(each) for each in cast("Sequence[object]", value)]
        if not held:
            raise InputError("the element type of an empty list is unknown", help="pass a model that declares it")
        ranks = {array.ndim for array in held}
        extents = zip(*(array.shape for array in held), strict=True) if len(ranks) == 1 else None
        shape = None if extents is None else [each[0] if len(set(each)) == 1 else None for each in extents]
        return onnx.helper.make_sequence_type_proto(_tensor_type(held[0].dtype, shape))
    array = np.asarray(value)
    return _tensor_type(array.dtype, array.shape)


def _tensor_type(dtype: np.dtype[Any], shape: Sequence[int | None] | None) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)

"""onnx's backend interface: `prepare`, `run_model`, `run_node`, `supports_device`, `is_compatible`.

    import onnx.backend.test
    import xrelay.onnx_backend

    tests = onnx.backend.test.BackendTest(xrelay.onnx_backend, __name__)

A model runs as `xrelay.compile` makes it, on the CPU. Results are tuples that also answer to the names of outputs. One
that is valid and that xrelay refuses raises `RefusedModelError`, which onnx's tests take for an op that the backend is
not supposed to implement: they skip it. One that is not valid raises what `xrelay.compile` raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

import numpy as np
import onnx
from numpy.typing import DTypeLike
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt
from onnx.checker import ValidationError
from onnx.shape_inference import InferenceError

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError, ModelImportError, XRelayError, did_you_mean
from xrelay.frontend.onnx.importer import import_onnx
from xrelay.frontend.onnx.signature import graph_inputs
from xrelay.runtime.inputs import is_mapping
from xrelay.runtime.lists import Listed

DEVICES: Final = ("CPU", "CPU:0")

_COMPILE_OPTIONS: Final = ("target", "opt_level", "threads", "shapes", "cache", "memory_limit")
_TEST_OPTIONS: Final = ("rtol", "atol")
"""What onnx's tests hand on to every backend and use themselves."""


class _Checker(Protocol):
    """onnx's checker, whose own types are not whole."""

    def check_model(self, model: onnx.ModelProto, full_check: bool) -> None: ...


class RefusedModelError(ModelImportError, BackendIsNotSupposedToImplementIt):
    """A valid model that xrelay does not compile: the message says why."""


class XRelayBackendRep(BackendRep):
    """A compiled model, ready to run."""

    def __init__(self, model: CompiledModel, graph: onnx.GraphProto):
        """The model, and the graph that it was."""
        self.model = model
        self._inputs = [value.name for value in graph_inputs(graph)]
        self._outputs = graph.output
        self._tuple = namedtupledict("Outputs", [output.name for output in graph.output])

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs for inputs in order, by name, or for the one input of a model; `kwargs` as `CompiledModel.run`.

        Sequences are lists, an optional without a value is `None`. Inputs that the model leaves out are not looked at.
        """
        given = inputs if is_mapping(inputs) else self._by_name(_in_order(inputs))
        left_out = set(self._inputs) - set(self.model.input_names)
        feeds = {name: value for name, value in given.items() if name not in left_out}
        return self._tuple(*_as_declared(self._outputs, self.model, self.model.run(feeds, **kwargs)))

    def _by_name(self, inputs: Sequence[object]) -> dict[str, object]:
        """Inputs in order by their names; `InputError` for another number of them."""
        if len(inputs) != len(self._inputs):
            raise InputError(f"expected {len(self._inputs)} inputs ({', '.join(self._inputs)}), got {len(inputs)}")
        return dict(zip(self._inputs, inputs, strict=True))


class XRelayBackend(Backend):
    """xrelay as a backend of onnx; the functions of this module are its methods."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model can be imported, on a device that there is; what native code refuses shows in `prepare`."""
        if not cls.supports_device(device):
            return False
        try:
            import_onnx(model, shapes=kwargs.get("shapes"))
        except XRelayError:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> XRelayBackendRep:
        """The compiled model; `kwargs` are options of `xrelay.compile`.

        Raises `RefusedModelError` for a valid model that is refused, `InputError` for another device or option, and
        what `xrelay.compile` raises of a model that is not valid.
        """
        if not cls.supports_device(device):
            raise InputError(f"there is no device {device!r}", help="the device is 'CPU'")
        try:
            compiled = compile(model, **_options(kwargs))
        except InputError:
            raise
        except XRelayError as error:
            if not _is_valid(model):
                raise
            raise RefusedModelError(error.message, location=error.location, help=error.help) from error
        return XRelayBackendRep(compiled, model.graph)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """`prepare` and `run` in one."""
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
        """What a node alone gives for its inputs, in order and without those that it leaves out.

        `opset_version` is the newest where it is not given. `outputs_info` has dtype and shape of each output.
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
        """Whether a device is the CPU."""
        return device in DEVICES


is_compatible = XRelayBackend.is_compatible
prepare = XRelayBackend.prepare
run_model = XRelayBackend.run_model
run_node = XRelayBackend.run_node
supports_device = XRelayBackend.supports_device


def _in_order(inputs: object) -> Sequence[object]:
    """The inputs in order; what is no list is the only one."""
    return cast("Sequence[object]", inputs) if isinstance(inputs, list | tuple) else [inputs]


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `compile` among those that are given; `InputError` for one that nobody knows."""
    for name in given:
        if name not in (*_COMPILE_OPTIONS, *_TEST_OPTIONS):
            hint = did_you_mean(name, _COMPILE_OPTIONS, f"the options are {', '.join(_COMPILE_OPTIONS)}")
            raise InputError(f"there is no option {name!r}", help=hint)
    return {name: value for name, value in given.items() if name in _COMPILE_OPTIONS}


def _is_valid(model: onnx.ModelProto) -> bool:
    """Whether onnx itself takes a model."""
    try:
        cast(_Checker, onnx.checker).check_model(model, full_check=True)
    except (ValidationError, InferenceError, ValueError, RuntimeError):
        return False
    return True


def _as_declared(
    outputs: Sequence[onnx.ValueInfoProto], model: CompiledModel, values: Sequence[Listed]
) -> list[Listed]:
    """The values of the declared outputs, in order.

    Of a sequence whose length is known when compiling a model gives each value under the sequence's name.
    """
    found: list[Listed] = []
    rest = list(zip(model.outputs, values, strict=True))[::-1]
    for output in outputs:
        spec, value = rest.pop()
        if spec.containers or not _is_sequence(output.type):
            found.append(value)
            continue
        held = [value]
        while rest and rest[-1][0].name == output.name:
            held.append(rest.pop()[1])
        found.append(held)
    return found


def _is_sequence(type: onnx.TypeProto) -> bool:
    """Whether values of a type are sequences, or optional ones."""
    inner = type.optional_type.elem_type if type.HasField("optional_type") else type
    return inner.HasField("sequence_type")


def _model_of(
    node: onnx.NodeProto,
    feeds: Mapping[str, object],
    outputs_info: Sequence[tuple[DTypeLike, Sequence[int]]] | None,
    opset: int,
) -> onnx.ModelProto:
    """A model of a node alone, with inputs of the types that these values have."""
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
    """The type of an array, or of a list of arrays of one dtype: extents in which they differ are open."""
    if isinstance(value, list | tuple):
        held = [np.asarray(each) for each in cast("Sequence[object]", value)]
        if not held:
            raise InputError("a list without values does not tell its type", help="make a model that declares it")
        ranks = {array.ndim for array in held}
        extents = zip(*(array.shape for array in held), strict=True) if len(ranks) == 1 else None
        shape = None if extents is None else [each[0] if len(set(each)) == 1 else None for each in extents]
        return onnx.helper.make_sequence_type_proto(_tensor_type(held[0].dtype, shape))
    array = np.asarray(value)
    return _tensor_type(array.dtype, array.shape)


def _tensor_type(dtype: np.dtype[Any], shape: Sequence[int | None] | None) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)

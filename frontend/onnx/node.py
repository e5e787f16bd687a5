"""The view of an ONNX node for converters: checked attributes, inputs as values or constants, and `emit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import AttributeProto
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.facts import Elements
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import ConstraintError, ModelImportError
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.problems import DependentNodeError, UnsupportedNodeError
from xrelay.frontend.onnx.signature import value_type
from xrelay.frontend.onnx.tensors import check_size, tensor_array
from xrelay.index_algebra.dims import Dim, Shape
from xrelay.interpreters.relay import evaluate_op

FOLD_LIMIT = 64
"""The maximum number of elements of a result that the importer folds; the compiler folds larger ones."""


class NodeView:
    """A node of the imported model, in the opset of its domain."""

    proto: onnx.NodeProto
    opset: int
    inputs: Sequence[SSAValue | None]

    def __init__(self, proto: onnx.NodeProto, graph: GraphBuilder, inputs: Sequence[SSAValue | None] = ()):
        self.proto, self.graph, self.inputs = proto, graph, inputs
        self.opset = graph.opset(self.domain)
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}

    def inside(self, block: Block) -> NodeView:
        """Returns the node with ops emitted into `block`, a region's block, which sees the values of this graph."""
        return NodeView(self.proto, self.graph.inner(block), self.inputs)

    def with_inputs(self, inputs: Sequence[SSAValue | None]) -> NodeView:
        """Returns the node with other inputs, for use with the converter of another op."""
        return NodeView(self.proto, self.graph, inputs)

    # --- naming ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the node, or the name of its first output if the model has none."""
        return self.proto.name or next((output for output in self.proto.output if output), self.proto.op_type)

    @property
    def domain(self) -> str:
        """The domain of the op; empty for ONNX's own, which models may also call "ai.onnx"."""
        return "" if self.proto.domain == "ai.onnx" else self.proto.domain

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs; empty for absent outputs and outputs that nothing reads."""
        return [name if self.graph.is_read(name) else "" for name in self.proto.output]

    def describe(self) -> str:
        """The node for messages: name, op and opset."""
        op = f"{self.proto.domain}::{self.proto.op_type}" if self.proto.domain else self.proto.op_type
        return f"node {self.name!r} ({op if op.isprintable() else repr(op)}, opset {self.opset})"

    def error(self, message: str, *, help: str | None = None) -> ModelImportError:
        """Returns an error about this node."""
        return ModelImportError(message, location=self.describe(), help=help)

    def unsupported(self, reason: str) -> UnsupportedNodeError:
        """Returns the error that this node is unsupported, with the reason."""
        return UnsupportedNodeError(reason, location=self.describe())

    def depends_on_missing(self) -> DependentNodeError:
        """Returns the error that inputs of this node are missing because of an error that is reported elsewhere."""
        return DependentNodeError("depends on a node that is not supported", location=self.describe())

    @property
    def attribute_names(self) -> list[str]:
        """The names of the node's attributes."""
        return list(self._attributes)

    # --- attributes ------------------------------------------------------------------------------------------------

    def attribute_int(
        self, name: str, default: int | None = None, *, check: Callable[[int], bool] | None = None
    ) -> int:
        """Returns an integer attribute, which is required without a default.

        Raises an error with attribute and value if `check` rejects the value.
        """
        proto = self._typed(name, AttributeProto.INT)
        value = default if proto is None else int(proto.i)
        if value is None:
            raise self._missing(name)
        if check is not None and not check(value):
            raise self.illegal(name, value)
        return value

    def attribute_flag(self, name: str, default: bool = False) -> bool:
        """Returns an integer attribute that is 0 or 1; raises an error for any other value."""
        return bool(self.attribute_int(name, int(default), check=lambda value: value in (0, 1)))

    def attribute_float(self, name: str, default: float | None = None) -> float:
        """Returns a float attribute, which is required without a default.

        A default is rounded to f32, as explicit attributes are.
        """
        proto = self._typed(name, AttributeProto.FLOAT)
        if proto is not None:
            return float(proto.f)
        if default is None:
            raise self._missing(name)
        return float(np.float32(default))

    def attribute_string(self, name: str, default: str, legal: Sequence[str]) -> str:
        """Returns a string attribute, whose value must be one of `legal`."""
        proto = self._typed(name, AttributeProto.STRING)
        value = default if proto is None else proto.s.decode("utf-8", "replace")
        if value not in legal:
            raise self.illegal(name, value, "legal are " + ", ".join(legal))
        return value

    def attribute_text(self, name: str) -> str:
        """Returns a required string attribute of any value."""
        proto = self._typed(name, AttributeProto.STRING)
        if proto is None:
            raise self._missing(name)
        return proto.s.decode("utf-8", "replace")

    def attribute_ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...] | None:
        """Returns an integer-list attribute."""
        proto = self._typed(name, AttributeProto.INTS)
        if proto is None:
            return None if default is None else tuple(default)
        return tuple(int(value) for value in proto.ints)

    def attribute_floats(self, name: str) -> tuple[float, ...] | None:
        """Returns a float-list attribute."""
        proto = self._typed(name, AttributeProto.FLOATS)
        return None if proto is None else tuple(float(value) for value in proto.floats)

    def attribute_strings(self, name: str) -> tuple[str, ...] | None:
        """Returns a string-list attribute."""
        proto = self._typed(name, AttributeProto.STRINGS)
        return None if proto is None else tuple(value.decode("utf-8", "replace") for value in proto.strings)

    def attribute_tensor(self, name: str) -> Array | None:
        """Returns a tensor attribute as an array."""
        proto = self._typed(name, AttributeProto.TENSOR)
        return None if proto is None else tensor_array(proto.t, self.graph.tensors)

    def attribute_type(self, name: str) -> Attribute | None:
        """Returns a type attribute as a relay type."""
        proto = self._typed(name, AttributeProto.TYPE_PROTO)
        return None if proto is None else value_type(proto.tp, self.describe())

    def attribute_graph(self, name: str) -> onnx.GraphProto:
        """Returns a required graph attribute."""
        proto = self._typed(name, AttributeProto.GRAPH)
        if proto is None:
            raise self._missing(name)
        return proto.g

    def illegal(self, name: str, value: object, hint: str | None = None) -> ModelImportError:
        """Returns the error for an attribute value that ONNX does not allow here."""
        return self.error(f"attribute {name!r} has the illegal value {value!r}", help=hint)

    def _missing(self, name: str) -> ModelImportError:
        return self.error(f"attribute {name!r} is missing")

    def _typed(self, name: str, type: AttributeProto.AttributeType) -> AttributeProto | None:
        proto = self._attributes.get(name)
        if proto is not None and proto.type != type:
            expected, found = AttributeProto.AttributeType.Name(type), AttributeProto.AttributeType.Name(proto.type)
            raise self.error(f"attribute {name!r} must be of type {expected}, found {found}")
        return proto

    # --- inputs ----------------------------------------------------------------------------------------------------

    def input(self, index: int) -> SSAValue:
        """Returns input `index`, which is required."""
        value = self.optional_input(index)
        if value is None:
            raise self.error(f"input #{index} is missing")
        return value

    def optional_input(self, index: int) -> SSAValue | None:
        """Returns input `index`, or `None` if the node leaves it out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def shape(self, index: int) -> Shape:
        """Returns the shape of input `index`, which must be a tensor."""
        return shape_of(self._tensor_type(index))

    def require_rank(self, index: int, rank: int) -> None:
        """Raises an error unless input `index` is a tensor of that rank."""
        if len(self.shape(index)) != rank:
            raise self.error(f"input #{index} must have rank {rank}, found {self.input(index).type}")

    def last_extent(self, index: int) -> Dim:
        """Returns the last extent of input `index`, which must have an axis."""
        shape = self.shape(index)
        if not shape:
            raise self.error(f"input #{index} is {self.input(index).type}: a tensor with axes is expected")
        return shape[-1]

    def element_type(self, index: int) -> Attribute:
        """Returns the element type of input `index`, which must be a tensor."""
        return element_type_of(self._tensor_type(index))

    def _tensor_type(self, index: int) -> Attribute:
        type = self.input(index).type
        if not isinstance(type, TensorType):
            raise self.error(f"input #{index} must be a tensor, found {type}")
        return type

    def constant(self, index: int) -> Array | None:
        """Returns the value of input `index` if it is a constant that is available; else `None`."""
        value = self.optional_input(index)
        return None if value is None else constant_value(value)

    def is_computed(self, index: int) -> bool:
        """Returns whether input `index` is present and known only at run time."""
        if self.optional_input(index) is None:
            return False
        return self.constant(index) is None and self.known_ints(index) is None

    def elements(self, index: int) -> Elements | None:
        """Returns the known elements of input `index`, a small integer tensor."""
        return self.graph.elements.of(self.input(index))

    def required_constant(self, index: int, what: str) -> Array:
        """Returns the value of input `index`, which must be a constant; `what` describes it in the error."""
        value = self.constant(index)
        if value is None:
            raise self.error(
                f"input #{index} ({what}) must be a constant; it is computed at run time",
                help="fix the model's input shapes with shapes={…} so that shape arithmetic folds",
            )
        return value

    def required_ints(self, index: int, what: str) -> tuple[int, ...]:
        """Returns the integers of input `index`, which must be known and of rank 0 or 1."""
        found = self.known_ints(index)
        if found is None:
            array = self.required_constant(index, what)
            if array.ndim > 1 or array.dtype.kind not in "iu":
                raise self.error(
                    f"input #{index} ({what}) must be a list of integers, found {array.dtype}{list(array.shape)}"
                )
            found = tuple(int(value) for value in array.reshape(-1))
        return tuple(self._signed(index, what, value) for value in found)

    def _signed(self, index: int, what: str, value: int) -> int:
        """Returns `value` of input `index`, which must be a signed 64-bit number, as attributes are."""
        if not _is_int64(value):
            raise self.error(f"input #{index} ({what}) must be a signed 64-bit integer, found {value}")
        return value

    def known_ints(self, index: int) -> tuple[int, ...] | None:
        """Returns the integers of a list computed from constants and known shapes; `None` if one is not known."""
        elements = self.elements(index)
        known = tuple(element for element in elements or () if isinstance(element, int))
        return None if elements is None or len(known) < len(elements) or len(self.shape(index)) > 1 else known

    def setting_ints(self, index: int, what: str) -> tuple[int, ...]:
        """Returns the attribute `what` (of old opsets), or the constant input `index`; one of them is required."""
        found = self.optional_setting_ints(index, what)
        if found is None:
            raise self.error(f"attribute {what!r} or input #{index} is required")
        return found

    def optional_setting_ints(self, index: int, what: str) -> tuple[int, ...] | None:
        """Returns the attribute `what` (of old opsets), or the constant input `index` that replaces it, or `None`."""
        if what in self.attribute_names:
            return self.attribute_ints(what)
        return None if self.optional_input(index) is None else self.required_ints(index, what)

    def required_scalar(self, index: int, what: str) -> Array:
        """Returns input `index`, a constant of one element, as an array of rank 0 with its own dtype."""
        array = self.required_constant(index, what)
        if array.size != 1:
            raise self.error(f"input #{index} ({what}) must be one number, found {array.dtype}{list(array.shape)}")
        return array.reshape(())

    def required_int(self, index: int, what: str) -> int:
        """Returns input `index`, a constant of one number, truncated to an integer."""
        number = self.required_scalar(index, what)
        if not np.isfinite(number):
            raise self.error(f"input #{index} ({what}) must be an integer, found {number}")
        return self._signed(index, what, int(number))

    # --- building --------------------------------------------------------------------------------------------------

    def emit(self, op: str | type[RelayOp], *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Adds a relay op, by name or class, located at this node; a violated constraint is an error of the node."""
        return self._add(get_relay_op(op) if isinstance(op, str) else op, operands, **attributes)

    def _add(self, op: type[RelayOp], operands: Sequence[SSAValue], **attributes: AttributeValue) -> SSAValue:
        known = self.graph.elements
        try:
            made = op.typed(operands, op.properties_from(attributes), [known.of(operand) for operand in operands])
            known.learn(self.graph.insert(made, self.name), made.operand_types)
            return made.results[0]
        except ConstraintError as error:
            raise self.error(error.message, help=error.help) from error

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Adds a `relay.reshape` to known extents; -1 is inferred, and 0 means an extent of 0."""
        return self.emit("reshape", value, newshape=tuple(shape), allowzero=True)

    def make_tuple(self, operands: Sequence[SSAValue]) -> SSAValue:
        """Adds a `relay.tuple` of the operands."""
        return self._add(TupleOp, operands)

    def tuple_field(self, value: SSAValue, index: int) -> SSAValue:
        """Adds a `relay.tuple_get_item`."""
        return self._add(TupleGetItemOp, [value], index=index)

    def emit_constant(self, array: Array, suffix: str = "constant") -> SSAValue:
        """Adds a constant named after this node."""
        return self.graph.insert_constant(array, f"{self.name}.{suffix}", self.name)

    def emit_ints(self, numbers: int | Sequence[int], suffix: str = "constant") -> SSAValue:
        """Adds a constant of 64-bit integers, a list or a scalar; raises an error for a number that needs more bits."""
        for number in (numbers,) if isinstance(numbers, int) else numbers:
            if not _is_int64(number):
                raise self.error(f"{number} is computed, which is no signed 64-bit integer")
        return self.emit_constant(np.array(numbers, np.int64), suffix)

    def emit_filled(self, element: Array, shape: Sequence[int], suffix: str) -> SSAValue:
        """Adds a constant of `shape` filled with `element`; raises an error if it would be too large.

        The array is a broadcast of one element in memory, since a few bytes of a model may request gigabytes.
        """
        self.require_size(shape, element.itemsize)
        return self.emit_constant(np.broadcast_to(element.reshape(()), tuple(shape)), suffix)

    def require_size(self, shape: Sequence[int], itemsize: int, most: int | None = None) -> None:
        """Raises an error if a tensor of `shape` exceeds `most` bytes, by default as many as a file can hold."""
        problem = check_size(tuple(shape), itemsize, most)
        if problem is not None:
            raise self.error(problem)

    def scalar_like(self, value: float, index: int) -> SSAValue:
        """Adds a rank-0 constant with the element type of input `index`."""
        return self.scalar(value, self.input(index))

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """Adds a rank-0 constant with the element type of the tensor `like`; an error if that cannot hold `value`."""
        dtype = numpy_dtype(element_type_of(like.type))
        try:
            return self.emit_constant(np.array(value, dtype=dtype))
        except (OverflowError, ValueError) as error:
            raise self.error(f"{value} is not a value of type {dtype}") from error


def _is_int64(number: int) -> bool:
    return -(1 << 63) <= number < 1 << 63


def constant_value(value: SSAValue) -> Array | None:
    """Returns the array of a `relay.constant`, or the value of a small dequantised constant.

    Dequantise ops are not folded, so that passes still see quantised constants; their value is computed here.
    """
    owner = value.owner
    if isinstance(owner, DequantizeOp):
        known = [constant_value(operand) for operand in owner.operands]
        arrays = [array for array in known if array is not None and array.size <= FOLD_LIMIT]
        found = evaluate_op(owner, arrays) if len(arrays) == len(known) else None
        return found if isinstance(found, np.ndarray) else None
    return owner.array if isinstance(owner, ConstantOp) else None

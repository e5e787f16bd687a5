"""One ONNX node as a converter sees it: attributes with checks, inputs as values or constants, and `emit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import AttributeProto
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.facts import Elements
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.dialects.relay.ops.qnn_quantize import DequantizeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ConstraintError, ModelImportError
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.problems import DependentNodeError, UnsupportedNodeError
from xrelay.frontend.onnx.signature import value_type
from xrelay.frontend.onnx.tensors import check_size, tensor_array
from xrelay.index_algebra.dims import Dim, Shape
from xrelay.interpreters.relay import evaluate_op

FOLD_LIMIT = 64
"""Of at most so many elements the importer computes what constants give; the compiler folds larger ones."""


class NodeView:
    """A node of the model being imported, in the opset of its domain."""

    proto: onnx.NodeProto
    opset: int
    inputs: Sequence[SSAValue | None]

    def __init__(self, proto: onnx.NodeProto, graph: GraphBuilder, inputs: Sequence[SSAValue | None] = ()):
        self.proto, self.graph, self.inputs = proto, graph, inputs
        self.opset = graph.opset(self.domain)
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}

    def inside(self, block: Block) -> NodeView:
        """The node with what it emits put into `block`, a region's; the values that it knows are known there."""
        return NodeView(self.proto, self.graph.inner(block), self.inputs)

    def with_inputs(self, inputs: Sequence[SSAValue | None]) -> NodeView:
        """The node as if it had these inputs, which it computes of its own, for the converter of another op."""
        return NodeView(self.proto, self.graph, inputs)

    # --- naming ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The node's name; where the model gives none, the name of its first output."""
        return self.proto.name or next((output for output in self.proto.output if output), self.proto.op_type)

    @property
    def domain(self) -> str:
        """The domain of the op; empty for ONNX's own, which may also be written out."""
        return "" if self.proto.domain == "ai.onnx" else self.proto.domain

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs; empty for one that is left out or that nothing reads."""
        return [name if self.graph.is_read(name) else "" for name in self.proto.output]

    def describe(self) -> str:
        """The node for messages: name, op and opset."""
        op = f"{self.proto.domain}::{self.proto.op_type}" if self.proto.domain else self.proto.op_type
        return f"node {self.name!r} ({op if op.isprintable() else repr(op)}, opset {self.opset})"

    def error(self, message: str, *, help: str | None = None) -> ModelImportError:
        """An error about this node."""
        return ModelImportError(message, location=self.describe(), help=help)

    def unsupported(self, reason: str) -> UnsupportedNodeError:
        """The error saying why this node cannot be converted at all."""
        return UnsupportedNodeError(reason, location=self.describe())

    def depends_on_missing(self) -> DependentNodeError:
        """The error saying that inputs of this node are missing, for a reason that is reported elsewhere."""
        return DependentNodeError("depends on a node that is not supported", location=self.describe())

    @property
    def attribute_names(self) -> list[str]:
        """The attributes the node carries."""
        return list(self._attributes)

    # --- attributes ------------------------------------------------------------------------------------------------

    def attribute_int(self, name: str, default: int, *, check: Callable[[int], bool] | None = None) -> int:
        """An integer attribute; a value that `check` refuses is an error naming attribute and value."""
        proto = self._typed(name, AttributeProto.INT)
        value = default if proto is None else int(proto.i)
        if check is not None and not check(value):
            raise self.illegal(name, value)
        return value

    def attribute_float(self, name: str, default: float) -> float:
        """A float attribute; a default is rounded to f32 as an attribute that is written out is."""
        proto = self._typed(name, AttributeProto.FLOAT)
        return float(np.float32(default)) if proto is None else float(proto.f)

    def attribute_string(self, name: str, default: str, legal: Sequence[str]) -> str:
        """A string attribute whose value must be one of `legal`."""
        proto = self._typed(name, AttributeProto.STRING)
        value = default if proto is None else proto.s.decode("utf-8", "replace")
        if value not in legal:
            raise self.illegal(name, value, "legal are " + ", ".join(legal))
        return value

    def attribute_text(self, name: str) -> str:
        """A string attribute of any value, required to be there."""
        proto = self._typed(name, AttributeProto.STRING)
        if proto is None:
            raise self.error(f"attribute {name!r} is missing")
        return proto.s.decode("utf-8", "replace")

    def attribute_ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...] | None:
        """An integer-list attribute."""
        proto = self._typed(name, AttributeProto.INTS)
        if proto is None:
            return None if default is None else tuple(default)
        return tuple(int(value) for value in proto.ints)

    def attribute_floats(self, name: str) -> tuple[float, ...] | None:
        """A float-list attribute."""
        proto = self._typed(name, AttributeProto.FLOATS)
        return None if proto is None else tuple(float(value) for value in proto.floats)

    def attribute_strings(self, name: str) -> tuple[str, ...] | None:
        """A string-list attribute."""
        proto = self._typed(name, AttributeProto.STRINGS)
        return None if proto is None else tuple(value.decode("utf-8", "replace") for value in proto.strings)

    def attribute_tensor(self, name: str) -> Array | None:
        """A tensor attribute as an array."""
        proto = self._typed(name, AttributeProto.TENSOR)
        return None if proto is None else tensor_array(proto.t, self.graph.tensors)

    def attribute_type(self, name: str) -> Attribute | None:
        """A type attribute, as the type of relay."""
        proto = self._typed(name, AttributeProto.TYPE_PROTO)
        return None if proto is None else value_type(proto.tp, self.describe())

    def attribute_graph(self, name: str) -> onnx.GraphProto:
        """A graph attribute, required to be there."""
        proto = self._typed(name, AttributeProto.GRAPH)
        if proto is None:
            raise self.error(f"attribute {name!r} is missing")
        return proto.g

    def illegal(self, name: str, value: object, hint: str | None = None) -> ModelImportError:
        """The error for an attribute value that ONNX does not allow here."""
        return self.error(f"attribute {name!r} has the illegal value {value!r}", help=hint)

    def _typed(self, name: str, type: AttributeProto.AttributeType) -> AttributeProto | None:
        proto = self._attributes.get(name)
        if proto is not None and proto.type != type:
            expected, found = AttributeProto.AttributeType.Name(type), AttributeProto.AttributeType.Name(proto.type)
            raise self.error(f"attribute {name!r} must be of type {expected}, found {found}")
        return proto

    # --- inputs ----------------------------------------------------------------------------------------------------

    def input(self, index: int) -> SSAValue:
        """Input `index`, required to be there."""
        value = self.optional_input(index)
        if value is None:
            raise self.error(f"input #{index} is missing")
        return value

    def optional_input(self, index: int) -> SSAValue | None:
        """Input `index`, or `None` where the node leaves it out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def shape(self, index: int) -> Shape:
        """The shape of input `index`, required to be a tensor."""
        return shape_of(self._tensor_type(index))

    def require_rank(self, index: int, rank: int) -> None:
        """An error unless input `index` is a tensor of that rank."""
        if len(self.shape(index)) != rank:
            raise self.error(f"input #{index} must have rank {rank}, found {self.input(index).type}")

    def last_extent(self, index: int) -> Dim:
        """The last extent of input `index`, required to have an axis."""
        shape = self.shape(index)
        if not shape:
            raise self.error(f"input #{index} is {self.input(index).type}: a tensor with axes is expected")
        return shape[-1]

    def element_type(self, index: int) -> Attribute:
        """The element type of input `index`, required to be a tensor."""
        return element_type_of(self._tensor_type(index))

    def _tensor_type(self, index: int) -> Attribute:
        type = self.input(index).type
        if not isinstance(type, TensorType):
            raise self.error(f"input #{index} must be a tensor, found {type}")
        return type

    def constant(self, index: int) -> Array | None:
        """The value of input `index` where it is a constant whose bytes are here."""
        value = self.optional_input(index)
        return None if value is None else constant_value(value)

    def elements(self, index: int) -> Elements | None:
        """What is known of the elements of input `index`, a small tensor of integers."""
        return self.graph.elements.of(self.input(index))

    def required_constant(self, index: int, what: str) -> Array:
        """The value of input `index`, required to be a constant; `what` says what it means."""
        value = self.constant(index)
        if value is None:
            raise self.error(
                f"input #{index} ({what}) must be a constant; it is computed at run time",
                help="fix the model's input shapes with shapes={…} so that shape arithmetic folds",
            )
        return value

    def required_ints(self, index: int, what: str) -> tuple[int, ...]:
        """The integers of input `index`, required to be known, of at most one dimension."""
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
        """`value` of input `index`, required to be one that attributes hold: of 64 bits, with a sign."""
        if not _is_int64(value):
            raise self.error(f"input #{index} ({what}) must be of 64 bits with a sign, found {value}")
        return value

    def known_ints(self, index: int) -> tuple[int, ...] | None:
        """The integers of a list that is computed of constants and known shapes; `None` where one is not known."""
        elements = self.elements(index)
        known = tuple(element for element in elements or () if isinstance(element, int))
        return None if elements is None or len(known) < len(elements) or len(self.shape(index)) > 1 else known

    def setting_ints(self, index: int, what: str) -> tuple[int, ...]:
        """The attribute `what` of an old opset, or the constant input `index` in its place; one is required."""
        found = self.optional_setting_ints(index, what)
        if found is None:
            raise self.error(f"neither attribute {what!r} nor input #{index} is there")
        return found

    def optional_setting_ints(self, index: int, what: str) -> tuple[int, ...] | None:
        """The attribute `what` of an old opset, or the constant input `index` that took its place."""
        if what in self.attribute_names:
            return self.attribute_ints(what)
        return None if self.optional_input(index) is None else self.required_ints(index, what)

    def required_scalar(self, index: int, what: str) -> Array:
        """Input `index` as an array of rank 0 and of the dtype it has, required to be a constant of one element."""
        array = self.required_constant(index, what)
        if array.size != 1:
            raise self.error(f"input #{index} ({what}) must be one number, found {array.dtype}{list(array.shape)}")
        return array.reshape(())

    def required_int(self, index: int, what: str) -> int:
        """Input `index` as an integer, required to be a constant of one number, whose whole part it is."""
        number = self.required_scalar(index, what)
        if not np.isfinite(number):
            raise self.error(f"input #{index} ({what}) must be a whole number, found {number}")
        return self._signed(index, what, int(number))

    # --- building --------------------------------------------------------------------------------------------------

    def emit(self, op: str | type[RelayOp], *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Add a relay op, by name or class, located at this node; a constraint it breaks is an error of the node."""
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
        """Add a `relay.reshape` to known extents, of which one may be -1; an extent of 0 is one."""
        return self.emit("reshape", value, newshape=tuple(shape), allowzero=True)

    def make_tuple(self, operands: Sequence[SSAValue]) -> SSAValue:
        """Add a `relay.tuple` of the operands."""
        return self._add(TupleOp, operands)

    def tuple_field(self, value: SSAValue, index: int) -> SSAValue:
        """Add a `relay.tuple_get_item`."""
        return self._add(TupleGetItemOp, [value], index=index)

    def emit_constant(self, array: Array, suffix: str = "constant") -> SSAValue:
        """Add a constant named after this node."""
        return self.graph.insert_constant(array, f"{self.name}.{suffix}", self.name)

    def emit_ints(self, numbers: int | Sequence[int], suffix: str = "constant") -> SSAValue:
        """Add a constant of 64-bit integers, a list or of rank 0; an error for a number that needs more bits."""
        for number in (numbers,) if isinstance(numbers, int) else numbers:
            if not _is_int64(number):
                raise self.error(f"{number} is computed, which is no number of 64 bits with a sign")
        return self.emit_constant(np.array(numbers, np.int64), suffix)

    def emit_filled(self, element: Array, shape: Sequence[int], suffix: str) -> SSAValue:
        """Add a constant of `shape` whose every element is `element`; an error where it would be too large.

        One element is in memory, seen from every place: a few bytes of a model may ask for gigabytes.
        """
        problem = check_size(tuple(shape), element.itemsize)
        if problem is not None:
            raise self.error(problem)
        return self.emit_constant(np.broadcast_to(element.reshape(()), tuple(shape)), suffix)

    def scalar_like(self, value: float, index: int) -> SSAValue:
        """A rank-0 constant with the element type of input `index`."""
        return self.scalar(value, self.input(index))

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """A rank-0 constant with the element type of the tensor `like`, an error where that cannot hold it."""
        dtype = numpy_dtype(element_type_of(like.type))
        try:
            return self.emit_constant(np.array(value, dtype=dtype))
        except (OverflowError, ValueError) as error:
            raise self.error(f"{value} is no number of type {dtype}") from error


def _is_int64(number: int) -> bool:
    return -(1 << 63) <= number < 1 << 63


def constant_value(value: SSAValue) -> Array | None:
    """The array behind a value that a `relay.constant` defines, or a few numbers that are dequantised.

    Those are not folded: what they stand for is known here, and passes still see that they are quantised.
    """
    owner = value.owner
    if isinstance(owner, DequantizeOp):
        known = [constant_value(operand) for operand in owner.operands]
        arrays = [array for array in known if array is not None and array.size <= FOLD_LIMIT]
        found = evaluate_op(owner, arrays) if len(arrays) == len(known) else None
        return found if isinstance(found, np.ndarray) else None
    return owner.array if isinstance(owner, ConstantOp) else None

"""`relay.constant`: an array known at compile time."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    RankedStructure,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.facts import Elements
from xrelay.dialects.relay.structure.weights import Array, WeightAttr
from xrelay.dialects.shared.dense_elements import print_elements
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import AnyTensorType, is_static, shape_of, tensor_type

INLINE_LIMIT = 16
"""The number of elements up to which constants are printed inline; larger ones are weights."""


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """An array known at compile time.

    Small arrays are printed as `dense<…>`, large ones as `#relay.weight<"name", "key">`, with the bytes stored outside.

    Constraints:
    - C1: the result is a tensor of static shape.
    - C2: the value is a `dense` attribute of the result type, or a weight.
    - C3: a resolved weight has the shape and element type of the result.

    Example:
    ```mlir
    %two = relay.constant dense<2.0> : tensor<f32>
    %w = relay.constant #relay.weight<"conv1.w", "9f2c"> : tensor<64x3x7x7xf32>
    ```

    """

    name = "relay.constant"

    value = prop_def(Attribute)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: Attribute, result_type: Attribute):
        super().__init__(properties={"value": value}, result_types=[result_type])

    @staticmethod
    def of(array: ArrayLike, name: str = "constant") -> ConstantOp:
        """Returns the constant of `array`: inline if it is small, else a weight called `name`."""
        values: Array = np.asarray(array)
        type = tensor_type(values.shape, element_type(values.dtype))
        value = dense_of(values, type) if values.size <= INLINE_LIMIT else WeightAttr.of(name, values)
        # A program has many constants, and `create` is faster than xDSL's constructor.
        return ConstantOp.create(properties={"value": value}, result_types=[type])

    @property
    def array(self) -> Array:
        """The value as a numpy array, not to be written to. Raises `UnresolvedWeightError` for an unresolved weight."""
        if isinstance(self.value, WeightAttr):
            return self.value.data.array
        return array_of(cast(DenseIntOrFPElementsAttr, self.value))

    @property
    def is_here(self) -> bool:
        """Whether the array is available: a weight may be unresolved."""
        return not isinstance(self.value, WeightAttr) or self.value.data.is_resolved

    def evaluate(self) -> Array:
        """Returns the array."""
        return self.array

    def verify_(self) -> None:
        """Checks C1 to C3."""
        type = self.result.type
        if not is_static(type):
            raise VerifyException(f"[{self.name} C1] the result must have a static shape, found {type}")
        if isinstance(self.value, WeightAttr):
            self._verify_weight(self.value, type)
        elif not isinstance(self.value, DenseIntOrFPElementsAttr) or self.value.get_type() != type:
            raise VerifyException(f"[{self.name} C2] value {self.value} is neither dense of type {type} nor a weight")

    def _verify_weight(self, weight: WeightAttr, type: AnyTensorType) -> None:
        if not weight.data.is_resolved:
            return
        array = weight.data.array
        if array.shape != shape_of(type) or array.dtype != numpy_dtype(type.element_type):
            raise VerifyException(
                f"[{self.name} C3] weight {weight.data.name!r} is {array.dtype}{list(array.shape)}, result is {type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """Parses `dense<…> : T` or `#relay.weight<…> : T`, after an optional attribute dictionary."""
        attributes = assembly_format.parse_attributes(parser)
        value = parser.parse_attribute()
        if isinstance(value, DenseIntOrFPElementsAttr):
            op = cls(value, value.get_type())
        else:
            parser.parse_punctuation(":")
            op = cls(value, parser.parse_type())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        assembly_format.print_attributes(printer, self.attributes)
        printer.print_string(" ")
        type: Attribute = self.result.type
        if isinstance(self.value, DenseIntOrFPElementsAttr):
            type = self.value.get_type()
            print_elements(self.value, printer)
        else:
            printer.print_attribute(self.value)
        printer.print_string(" : ")
        printer.print_attribute(type)


def elements_of_constant(op: ConstantOp) -> Elements | None:
    """Returns the elements of an inline integer constant, for rules that take shapes as operands; else None."""
    if not isinstance(op.value, DenseIntOrFPElementsAttr) or not isinstance(op.result.type.element_type, IntegerType):
        return None
    return tuple(int(element) for element in array_of(op.value).ravel())


def dense_of(array: Array, type: AnyTensorType) -> DenseIntOrFPElementsAttr:
    """Returns the `dense` attribute of `type` with the elements of `array`."""
    # xDSL stores a true i1 as the byte 0xFF, numpy as the byte 1.
    stored = array.astype(np.uint8) * 0xFF if array.dtype == np.bool_ else array
    return _dense_scalar(stored.tobytes(), type) if stored.ndim == 0 else _dense(stored.tobytes(), type)


def _dense(data: bytes, type: AnyTensorType) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr(cast(RankedStructure[IntegerType | AnyFloat], type), BytesAttr(data))


_dense_scalar = lru_cache(maxsize=4096)(_dense)
"""Cached, because few distinct scalars occur, such as the epsilon of normalizations."""


def array_of(dense: DenseIntOrFPElementsAttr) -> Array:
    """Returns the elements of a `dense` attribute as a numpy array of its shape."""
    dtype = numpy_dtype(dense.get_element_type())
    if dtype == np.bool_:
        return (np.frombuffer(dense.data.data, np.uint8) != 0).reshape(dense.get_shape())
    return np.frombuffer(dense.data.data, dtype).reshape(dense.get_shape())

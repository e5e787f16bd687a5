"""relay's types: builtin tensors and tuples, `!relay.incomplete`, and the way between a tensor type and a `Shape`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, NoneAttr, TensorType, TupleType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from xrelay.dialects.relay.dims import ANY, Dim, DimExpr, Shape
from xrelay.dialects.relay.dims_attr import DimsAttr

AnyTensorType: TypeAlias = TensorType[Attribute]
"""A builtin tensor type of any element type."""


@irdl_attr_definition
class IncompleteType(ParametrizedAttribute, TypeAttribute):
    """`!relay.incomplete`: a type not known yet (Relay's IncompleteType). `relay-infer-type` solves it."""

    name = "relay.incomplete"


def tensor_type(shape: Iterable[Dim], element_type: Attribute) -> AnyTensorType:
    """The tensor type of `shape` and `element_type`; named dimensions go to the encoding slot."""
    dims = tuple(shape)
    extents = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in dims]
    encoding = DimsAttr.of(dims)
    return TensorType(element_type, extents, encoding if encoding is not None else NoneAttr())


def shape_of(type: Attribute) -> Shape:
    """The shape of a ranked tensor type, with named dimensions as expressions and the bare `?` as `ANY`.

    Raises `ValueError` where `type` is not a tensor or its `#relay.dims` lists another number of dimensions.
    """
    if not isinstance(type, TensorType):
        raise ValueError(f"{type} is not a tensor type")
    extents = type.get_shape()
    dynamic = sum(extent == DYNAMIC_INDEX for extent in extents)
    named: Sequence[DimExpr] = (ANY,) * dynamic
    if isinstance(type.encoding, DimsAttr):
        named = type.encoding.data
        if len(named) != dynamic:
            raise ValueError(f"[relay.dims C1] {len(named)} names for {dynamic} dynamic dimensions in {type}")
    names = iter(named)
    return tuple(next(names) if extent == DYNAMIC_INDEX else extent for extent in extents)


def element_type_of(type: Attribute) -> Attribute:
    """The element type of a tensor type; `ValueError` for anything else."""
    if not isinstance(type, TensorType):
        raise ValueError(f"{type} is not a tensor type")
    return type.element_type


def is_complete(type: Attribute) -> bool:
    """Whether no `!relay.incomplete` occurs in `type`, tuples and function types included."""
    worklist: list[Attribute] = [type]
    while worklist:
        current = worklist.pop()
        if isinstance(current, IncompleteType):
            return False
        if isinstance(current, TupleType):
            worklist.extend(current.types)
        elif isinstance(current, FunctionType):
            worklist.extend((*current.inputs, *current.outputs))
    return True


def is_static(type: Attribute) -> bool:
    """Whether `type` is a tensor all of whose extents are integers."""
    return isinstance(type, TensorType) and all(isinstance(dim, int) for dim in shape_of(type))

"""relay's types: builtin tensors and tuples, `!relay.incomplete`, containers, and conversion from and to `Shape`.

`!relay.sequence<T>` and `!relay.optional<T>` are any number of values of one type, and one value or none. The number of
values is known only at run time. Values of a sequence may differ in extents: a `?` in T may differ for each value, and
each value of `tensor<*xf32>` has its own rank. A name is one size, so T cannot contain names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, NoneAttr, TensorType, TupleType, UnrankedTensorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.identity_memo import IdentityMemo
from xrelay.errors import TensorTypeError
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, Shape, merge_dims

if TYPE_CHECKING:
    from numpy.typing import NDArray


Value: TypeAlias = "NDArray[Any] | tuple[Value, ...]"
"""An operand or result of an operator in the interpreter: an array, or a tuple of values."""


class SequenceValue(tuple["Value", ...]):
    """The values of a sequence."""

    __slots__ = ()


class OptionalValue(tuple["Value", ...]):
    """The value of an optional as a tuple of one element, or an empty tuple."""

    __slots__ = ()


class ClosureValue(tuple["Value", ...]):
    """The number of a closure's function, and the captured values."""

    __slots__ = ()


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """`!relay.sequence<T>`: any number of values of type T, whose extents have no names."""

    name = "relay.sequence"

    element: Attribute

    def verify(self) -> None:
        """Rejects names."""
        _refuse_names(self.name, self.element)


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """`!relay.optional<T>`: a value of type T, whose extents have no names, or no value."""

    name = "relay.optional"

    element: Attribute

    def verify(self) -> None:
        """Rejects names."""
        _refuse_names(self.name, self.element)


@irdl_attr_definition
class ClosureType(ParametrizedAttribute, TypeAttribute):
    """`!relay.closure`: a function of the program with captured values, both known only at run time."""

    name = "relay.closure"


def _refuse_names(container: str, element: Attribute) -> None:
    pending = [element]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleType):
            pending += current.types.data
        elif isinstance(current, TensorType) and isinstance(current.encoding, DimsAttr):
            raise VerifyException(f"[{container} C1] {current} in a {container} has a named extent; write ? instead")


MAX_AXES: Final = 64
"""The maximum rank of a tensor whose shape is data, equal to numpy's."""

AnyTensorType: TypeAlias = TensorType[Attribute]
"""A builtin tensor type of any element type."""
ChooseDim: TypeAlias = Callable[[Sequence[Dim]], Dim]
"""Returns an extent for those at the same position of several types."""
JoinTypes: TypeAlias = Callable[[Sequence[Attribute]], Attribute | None]
"""Returns the common type of several types, or None."""


@irdl_attr_definition
class IncompleteType(ParametrizedAttribute, TypeAttribute):
    """`!relay.incomplete`: a type not known yet (Relay's IncompleteType). `relay-infer-type` solves it."""

    name = "relay.incomplete"


def tensor_type(shape: Iterable[Dim], element_type: Attribute) -> AnyTensorType:
    """Returns the tensor type of `shape` and `element_type`, with named dimensions in the encoding."""
    return _tensor_type(tuple(shape), element_type)


@lru_cache(maxsize=4096)
def _tensor_type(dims: Shape, element_type: Attribute) -> AnyTensorType:
    """The cached implementation: a program of 100,000 ops has some dozens of types, which are expensive to create."""
    extents = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in dims]
    encoding = DimsAttr.of(dims)
    return TensorType(element_type, extents, encoding if encoding is not None else NoneAttr())


def tuple_type(fields: Iterable[Attribute]) -> TupleType:
    """Returns the tuple type of these fields."""
    return TupleType(tuple(cast(TypeAttribute, field) for field in fields))


def function_type(inputs: Sequence[Attribute], outputs: Sequence[Attribute]) -> FunctionType:
    """Returns the function type from `inputs` to `outputs`, cached because ops share few signatures."""
    key = (*map(id, inputs), None, *map(id, outputs))
    known = _FUNCTION_TYPES.get(key)
    if known is None:
        known = _FUNCTION_TYPES.add(key, FunctionType.from_lists(inputs, outputs), *inputs, *outputs)
    return known


_FUNCTION_TYPES = IdentityMemo[FunctionType]()


def shape_of(type: Attribute) -> Shape:
    """Returns the shape of a ranked tensor type, with named dimensions as expressions and the bare `?` as `ANY`.

    Raises `TensorTypeError` if `type` is not a tensor or its `#relay.dims` has another number of dimensions.
    """
    known = _SHAPES.get(id(type))
    return known if known is not None else _SHAPES.add(id(type), _find_shape(type), type)


_SHAPES = IdentityMemo[Shape]()


def _find_shape(type: Attribute) -> Shape:
    """The implementation of `shape_of`, whose results are cached because rules query the same shapes often."""
    if not isinstance(type, TensorType):
        raise TensorTypeError(f"a tensor is expected, found {type}")
    extents = type.get_shape()
    if DYNAMIC_INDEX not in extents and not isinstance(type.encoding, DimsAttr):
        return extents
    dynamic = sum(extent == DYNAMIC_INDEX for extent in extents)
    named: Sequence[DimExpr] = (ANY,) * dynamic
    if isinstance(type.encoding, DimsAttr):
        named = type.encoding.data
        if len(named) != dynamic:
            raise TensorTypeError(f"[relay.dims C1] {len(named)} names for {dynamic} dynamic dimensions in {type}")
    names = iter(named)
    return tuple(next(names) if extent == DYNAMIC_INDEX else extent for extent in extents)


def element_type_of(type: Attribute) -> Attribute:
    """Returns the element type of a tensor type. Raises `TensorTypeError` for anything else."""
    if not isinstance(type, TensorType):
        raise TensorTypeError(f"a tensor is expected, found {type}")
    return type.element_type


def element_of_any_rank(type: Attribute) -> Attribute | None:
    """Returns the element type of a ranked or unranked tensor; None for anything else."""
    return type.element_type if isinstance(type, TensorType | UnrankedTensorType) else None


def is_complete(type: Attribute) -> bool:
    """Returns whether no `!relay.incomplete` occurs in `type`, including tuples and function types."""
    if isinstance(type, TensorType):
        return True
    known = _COMPLETE.get(id(type))
    return known if known is not None else _COMPLETE.add(id(type), _find_complete(type), type)


_COMPLETE = IdentityMemo[bool]()


def _find_complete(type: Attribute) -> bool:
    worklist, seen = [type], set[int]()
    while worklist:
        current = worklist.pop()
        if isinstance(current, IncompleteType):
            return False
        if isinstance(current, TupleType | FunctionType) and id(current) not in seen:
            # Shared parts are visited once: few types with shared parts may represent millions.
            seen.add(id(current))
            parts = current.types if isinstance(current, TupleType) else (*current.inputs, *current.outputs)
            worklist.extend(parts)
        elif isinstance(current, SequenceType | OptionalType):
            worklist.append(current.element)
    return True


def with_dims(type: Attribute, change: Callable[[DimExpr], Dim], *, by_position: bool = False) -> Attribute:
    """Returns `type` with each symbolic extent replaced by `change`, also in tuples and function types.

    With `by_position`, `change` is called for each position, even if the same part occurs several times.
    """
    if isinstance(type, TensorType) and isinstance(type.encoding, NoneAttr) and DYNAMIC_INDEX not in type.get_shape():
        return type

    def changed(dims: Sequence[Dim]) -> Dim:
        return change(dims[0]) if isinstance(dims[0], DimExpr) else dims[0]

    found = joined_types([type], changed, by_position=by_position)
    return type if found is None else found


def joined_types(
    types: Sequence[Attribute], choose: ChooseDim, join_functions: JoinTypes | None = None, *, by_position: bool = False
) -> Attribute | None:
    """Returns the type whose extents `choose` selects from those at the same position of all `types`.

    `join_functions` joins function types; by default they are joined part by part. Returns None if the types differ in
    more than extents. Few types with shared parts may represent many, so each part is visited once; with `by_position`,
    parts whose extents change are visited for each position.
    """
    return _TypeJoin(choose, join_functions, by_position).join(tuple(types))


class _TypeJoin:
    """Joins types part by part; see `joined_types`."""

    def __init__(self, choose: ChooseDim, join_functions: JoinTypes | None, by_position: bool):
        self._choose, self._join_functions, self._by_position = choose, join_functions, by_position
        self._known: dict[tuple[int, ...], Attribute | None] = {}
        self._changes = 0
        """The number of tensors whose extents changed."""

    def join(self, types: tuple[Attribute, ...]) -> Attribute | None:
        key, before = tuple(map(id, types)), self._changes
        if key in self._known:
            return self._known[key]
        made = self._join(types)
        if not self._by_position or self._changes == before:
            self._known[key] = made
        return made

    def _join(self, types: tuple[Attribute, ...]) -> Attribute | None:
        first = types[0]
        if isinstance(first, TensorType):
            made = _joined_tensors(first, types, self._choose)
            self._changes += made != first
            return made
        if isinstance(first, SequenceType | OptionalType):
            return _joined_containers(first, types)
        if isinstance(first, FunctionType) and self._join_functions is not None:
            return self._join_functions(types)
        parts = [_component_types(type) for type in types]
        if any(len(each) != len(parts[0]) or type.name != first.name for each, type in zip(parts, types, strict=True)):
            return None
        if not parts[0]:
            return first if all(type == first for type in types) else None
        fields = [self.join(field) for field in zip(*parts, strict=True)]
        complete = [cast(TypeAttribute, field) for field in fields if field is not None]
        if len(complete) != len(fields):
            return None
        if isinstance(first, FunctionType):
            return FunctionType.from_lists(complete[: len(first.inputs)], complete[len(first.inputs) :])
        return TupleType(tuple(complete))


def _joined_tensors(first: AnyTensorType, types: Sequence[Attribute], choose: ChooseDim) -> Attribute | None:
    tensors = [type for type in types if isinstance(type, TensorType)]
    shapes = [shape_of(type) for type in tensors]
    same = all(type.element_type == first.element_type for type in tensors)
    if not same or len(tensors) != len(types) or len({len(shape) for shape in shapes}) != 1:
        return None
    return tensor_type([choose(dims) for dims in zip(*shapes, strict=True)], first.element_type)


def _joined_containers(first: SequenceType | OptionalType, types: Sequence[Attribute]) -> Attribute | None:
    """Joins container types. Extents that differ become `?`, because values in containers have no names."""
    elements = [type.element for type in types if isinstance(type, SequenceType | OptionalType)]
    if any(type.name != first.name for type in types):
        return None
    element = common_element(elements)
    if element is None:
        return None
    return SequenceType(element) if isinstance(first, SequenceType) else OptionalType(element)


def common_element(types: Sequence[Attribute]) -> Attribute | None:
    """Returns the element type of a container of values of any of `types`: an unranked tensor if they differ in rank.

    Returns None if they differ in more than extents and rank.
    """
    element = common_type(types)
    if element is not None:
        return element
    found = {element_of_any_rank(type) for type in types}
    same = found.pop() if len(found) == 1 else None
    return None if same is None else UnrankedTensorType(same)


def common_type(types: Sequence[Attribute]) -> Attribute | None:
    """Returns the type of values of any of `types`, with `?` for named and differing extents; None if more differs."""
    return joined_types(types, lambda dims: dims[0] if len(set(dims)) == 1 and isinstance(dims[0], int) else ANY)


def _component_types(type: Attribute) -> tuple[Attribute, ...]:
    """Returns the component types of a tuple or function type; an empty tuple for other types."""
    if isinstance(type, TupleType):
        return tuple(type.types.data)
    return (*type.inputs, *type.outputs) if isinstance(type, FunctionType) else ()


def dims_in(type: Attribute) -> Sequence[DimExpr]:
    """Returns the symbolic extents in `type`, including tuple fields; those of repeated parts once."""
    known = _DIMS_IN.get(id(type))
    return known if known is not None else _DIMS_IN.add(id(type), _find_dims(type), type)


_DIMS_IN = IdentityMemo[Sequence[DimExpr]]()


def _find_dims(type: Attribute) -> Sequence[DimExpr]:
    found: list[DimExpr] = []
    pending, seen = [type], set[int]()
    while pending:
        current = pending.pop()
        if isinstance(current, TensorType):
            found += [dim for dim in shape_of(current) if isinstance(dim, DimExpr)]
        elif isinstance(current, TupleType) and id(current) not in seen:
            # Shared parts are visited once: few types with shared parts may represent millions.
            seen.add(id(current))
            pending += reversed(current.types.data)
    return found


def has_open_functions(types: Iterable[Attribute]) -> bool:
    """Returns whether a function type in `types`, including tuples, has symbolic extents."""
    pending, seen = [(type, False) for type in types], set[tuple[int, bool]]()
    while pending:
        current, inside = pending.pop()
        if isinstance(current, TensorType):
            if inside and dims_in(current):
                return True
        elif isinstance(current, TupleType | FunctionType) and (id(current), inside) not in seen:
            # Shared parts are visited once: few types with shared parts may represent millions.
            seen.add((id(current), inside))
            inside = inside or isinstance(current, FunctionType)
            pending += [(part, inside) for part in _component_types(current)]
    return False


def dim_pairs(lhs: Attribute, rhs: Attribute) -> list[tuple[Dim, Dim]]:
    """Returns the pairs of extents at the same position of two types of equal structure; skips unequal ranks.

    Repeated pairs of parts are visited once.
    """
    found: list[tuple[Dim, Dim]] = []
    pending, seen = [(lhs, rhs)], set[tuple[int, int]]()
    while pending:
        left, right = pending.pop()
        if isinstance(left, TensorType) and isinstance(right, TensorType):
            first, second = shape_of(left), shape_of(right)
            found += zip(first, second, strict=True) if len(first) == len(second) else ()
        elif isinstance(left, TupleType) and isinstance(right, TupleType) and (id(left), id(right)) not in seen:
            seen.add((id(left), id(right)))
            pending += zip(left.types.data, right.types.data, strict=False)
    return found


def is_static(type: Attribute) -> bool:
    """Returns whether `type` is a tensor with static extents."""
    return isinstance(type, TensorType) and all(isinstance(dim, int) for dim in shape_of(type))


def merge_types(lhs: Attribute, rhs: Attribute) -> Attribute | None:
    """Returns the most precise type of a value that has both types; None if they contradict each other.

    `!relay.incomplete` is replaced by any type, an unknown extent by a named one, a named one by an integer; tuples and
    function types are merged part by part.
    """
    if lhs == rhs or isinstance(rhs, IncompleteType):
        return lhs
    if isinstance(lhs, IncompleteType):
        return rhs
    if isinstance(lhs, TensorType) and isinstance(rhs, TensorType):
        return _merge_tensors(lhs, rhs)
    element = element_of_any_rank(lhs)
    if element is not None:
        if element != element_of_any_rank(rhs):
            return None
        # One of them is unranked, and the other one is more precise.
        return rhs if isinstance(rhs, TensorType) else lhs
    if isinstance(lhs, TupleType) and isinstance(rhs, TupleType):
        fields = _merge_all(lhs.types.data, rhs.types.data)
        return None if fields is None else TupleType(tuple(cast(TypeAttribute, field) for field in fields))
    if isinstance(lhs, FunctionType) and isinstance(rhs, FunctionType):
        inputs = _merge_all(lhs.inputs.data, rhs.inputs.data)
        outputs = _merge_all(lhs.outputs.data, rhs.outputs.data)
        return None if inputs is None or outputs is None else FunctionType.from_lists(inputs, outputs)
    if isinstance(lhs, SequenceType | OptionalType) and isinstance(rhs, SequenceType | OptionalType):
        element = merge_types(lhs.element, rhs.element) if lhs.name == rhs.name else None
        return None if element is None else type(lhs)(element)
    return None


def _merge_tensors(lhs: AnyTensorType, rhs: AnyTensorType) -> Attribute | None:
    left, right = shape_of(lhs), shape_of(rhs)
    if lhs.element_type != rhs.element_type or len(left) != len(right):
        return None
    shape: list[Dim] = []
    for first, second in zip(left, right, strict=True):
        dim = merge_dims(first, second)
        if dim is None:
            return None
        shape.append(dim)
    return tensor_type(shape, lhs.element_type)


def _merge_all(lhs: Sequence[Attribute], rhs: Sequence[Attribute]) -> list[Attribute] | None:
    if len(lhs) != len(rhs):
        return None
    merged = [merge_types(left, right) for left, right in zip(lhs, rhs, strict=True)]
    return None if None in merged else [type for type in merged if type is not None]

"""The inputs of a shape rule, the operands' types and known elements, and its result: a type and requirements."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Protocol, TypeAlias, overload

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.broadcast import broadcast_requirements, broadcast_shapes
from xrelay.dialects.shared.requirements import NewExtent
from xrelay.dialects.shared.types import AnyTensorType, element_type_of, joined_types, shape_of, with_dims
from xrelay.errors import ConstraintError, TensorTypeError, TypeInferenceError
from xrelay.index_algebra.dims import (
    ANY,
    AnyDim,
    Dim,
    DimExpr,
    Shape,
    certainly_differ,
    maximum,
    minimum,
    shape_text,
    symbol,
)
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Equal, Requirement

Elements: TypeAlias = tuple[Dim, ...]
"""The elements of an integer tensor in row-major order, each a number or an expression over named dimensions."""


MAX_EXTENT = (1 << 63) - 1
"""The greatest extent: native code stores extents in 64 bits."""


@dataclass(frozen=True)
class UnnamedExtent:
    """An extent that an op introduces: its placeholder, the preferred name, and an upper bound."""

    placeholder: str
    hint: str
    at_most: Dim | None


class ConstraintSource(Protocol):
    """An object that can require constraints: an op, or the facts of one."""

    def require(
        self, condition: bool, constraint: str, message: str | Callable[[], str], *, help: str | None = None
    ) -> None:
        """Raises `ConstraintError` with the op's name and `constraint` if `condition` is false."""
        ...


class Facts(Sequence[Attribute]):
    """The operand types of one op in order, the known elements of the operands, and the rule's requirements.

    A rule queries (`shape`, `element`, `elements`) and requires (`require`, `require_equal`). It depends on nothing
    else, so its result is cached for all ops of the same types, properties and elements. `requirements` has the
    requirements that are not decided, `extents` the extents that the rule introduces.
    """

    def __init__(self, op_name: str, types: Sequence[Attribute], elements: Sequence[Elements | None] = ()):
        self.op_name = op_name
        self.types = tuple(types)
        self._elements = tuple(elements)
        self.requirements: dict[Hashable, Requirement] = {}
        self.extents: list[UnnamedExtent] = []

    @overload
    def __getitem__(self, index: int) -> Attribute: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Attribute]: ...
    def __getitem__(self, index: int | slice) -> Attribute | Sequence[Attribute]:
        return self.types[index]

    def __len__(self) -> int:
        return len(self.types)

    # --- what is known -----------------------------------------------------------------------------------------

    def tensor(self, index: int, constraint: str = "C0") -> AnyTensorType:
        """Returns the type of operand `index`; requires that it is a tensor."""
        type = self.types[index]
        if not isinstance(type, TensorType):
            raise ConstraintError(self.op_name, constraint, f"operand #{index} must be a tensor, found {type}")
        try:
            shape_of(type)
        except TensorTypeError as error:
            raise ConstraintError(self.op_name, constraint, error.message) from error
        return type

    def shape(self, index: int, constraint: str = "C0") -> Shape:
        """Returns the shape of operand `index`; requires that it is a tensor."""
        return shape_of(self.tensor(index, constraint))

    def element(self, index: int, constraint: str = "C0") -> Attribute:
        """Returns the element type of operand `index`; requires that it is a tensor."""
        return element_type_of(self.tensor(index, constraint))

    def operand(self, index: int, constraint: str = "C0") -> tuple[Shape, Attribute]:
        """Returns shape and element type of operand `index`; requires that it is a tensor."""
        type = self.tensor(index, constraint)
        return shape_of(type), element_type_of(type)

    def elements(self, index: int) -> Elements | None:
        """Returns the elements of operand `index`, or None if they are not known."""
        return self._elements[index] if index < len(self._elements) else None

    # --- requirements ------------------------------------------------------------------------------------------

    def require(
        self, condition: bool, constraint: str, message: str | Callable[[], str], *, help: str | None = None
    ) -> None:
        """Raises `ConstraintError` with the op's name and `constraint` if `condition` is false.

        A function may create the message, for messages that are expensive to create, such as those with a type.
        """
        if not condition:
            text = message if isinstance(message, str) else message()
            raise ConstraintError(self.op_name, constraint, text, help=help)

    def broadcast(self, constraint: str, *operands: int) -> Shape:
        """Requires that the operands (all, or those given) broadcast as in numpy; returns their common shape."""
        return self.broadcast_shapes([self.shape(index) for index in operands or range(len(self))], constraint)

    def broadcast_shapes(self, shapes: Sequence[Shape], constraint: str, what: str = "shapes") -> Shape:
        """Requires that `shapes` broadcast; returns the common shape. `what` names them in the message."""
        common: Shape = ()
        for shape in shapes:
            wider = broadcast_shapes(common, shape)
            if wider is None:
                texts = [shape_text(each) for each in shapes]
                found = " and ".join((", ".join(texts[:-1]), texts[-1]))
                raise ConstraintError(self.op_name, constraint, f"{what} {found} do not broadcast")
            for requirement in broadcast_requirements(common, shape, constraint, "extents"):
                self.record(requirement)
            common = wider
        return common

    def require_equal(
        self,
        lhs: Dim,
        rhs: Dim,
        constraint: str,
        what: str,
        *,
        message: str | Callable[[], str] | None = None,
        help: str | None = None,
    ) -> None:
        """Requires that two extents are equal. `what` names both, e.g. "in-channels".

        `message` replaces the default message if they certainly differ.
        """
        if certainly_differ(lhs, rhs):
            self.require(False, constraint, f"{what} {lhs} != {rhs}" if message is None else message, help=help)
        if lhs != rhs:
            self.record(Equal(lhs, rhs, constraint=constraint, about=what.rstrip(":")))

    def require_equal_shapes(self, found: Shape, wanted: Shape, constraint: str, what: str, message: str) -> None:
        """Requires equal ranks and extents; `what` names the extents in requirements that are recorded."""
        self.require(len(found) == len(wanted), constraint, message)
        for lhs, rhs in zip(found, wanted, strict=True):
            self.require_equal(lhs, rhs, constraint, what, message=message)

    def require_at_least(
        self, dim: Dim, least: Dim, constraint: str, what: str, *, message: str | Callable[[], str] | None = None
    ) -> None:
        """Requires that an extent is at least `least`, such as 1 for a divisor.

        `message` replaces the default message if it certainly is less.
        """
        difference = -1 if isinstance(least, int) and least > MAX_EXTENT else dim - least
        if isinstance(difference, int):
            text = f"{what} {dim} is less than {least}" if message is None else message
            self.require(difference >= 0, constraint, text)
        else:
            self.record(AtLeast(dim, least, constraint=constraint, about=what))

    def require_repeats(self, own: Dim, target: Dim, constraint: str, what: str) -> None:
        """Requires at run time that `own` is 1 or `target`, so that the axis can be repeated to `target`.

        That is: it broadcasts, it is not greater unless it is 1, and it is not 0 unless `target` is, because no element
        can be repeated. If `target` is a number other than 1, broadcasting is sufficient.
        """
        self.record(Broadcasts(own, target, constraint=constraint, about=what))
        is_decided = isinstance(target, int) and target != 1
        if not is_decided and not any(isinstance(side, AnyDim) for side in (own, target)):
            self.require_at_least(maximum(1, target), own, constraint, what)
            self.require_at_least(own, minimum(1, target), constraint, what)

    def record(self, requirement: Requirement) -> None:
        """Records a requirement on named dimensions. Any cannot be constrained."""
        if not any(isinstance(side, AnyDim) for side in (requirement.lhs, requirement.rhs)):
            kept = requirement.canonical()
            self.requirements.setdefault((type(kept), kept.lhs, kept.rhs), kept)

    def new_extent(self, hint: str, position: int = 0, *, at_most: Dim | None = None) -> Dim:
        """Returns a new extent that the op introduces: a placeholder, which later gets a unique name based on `hint`.

        `position` identifies the extent within the op, such as its axis. A rule must use the same position for an
        extent regardless of knowledge about the others, because the name depends on it. `at_most` is an upper bound.
        """
        placeholder = f"%{position}"
        if any(extent.placeholder == placeholder for extent in self.extents):
            raise TypeInferenceError(f"the rule of {self.op_name} returns two extents for axis {position}")
        self.extents.append(UnnamedExtent(placeholder, hint, at_most))
        return symbol(placeholder)

    def with_new_extents(self, type: Attribute) -> Attribute:
        """Returns `type` with a new extent for each extent that is not an integer."""
        positions = count()

        def chosen(dims: Sequence[Dim]) -> Dim:
            position = next(positions)
            return dims[0] if isinstance(dims[0], int) else self.new_extent("d", position)

        found = joined_types([type], chosen, by_position=True)
        return type if found is None else found


@dataclass(frozen=True)
class Inference:
    """The result type of an op, with placeholders for the extents that it introduces, and its requirements."""

    type: Attribute
    requirements: tuple[Requirement, ...] = ()
    extents: tuple[UnnamedExtent, ...] = ()

    @staticmethod
    def of(type: Attribute, facts: Facts) -> Inference:
        """Returns the inference of a rule that was applied to `facts`."""
        return Inference(type, tuple(facts.requirements.values()), tuple(facts.extents))

    @cached_property
    def anonymous_type(self) -> Attribute:
        """The type with Relay's Any for the extents that the op introduces."""
        if not self.extents:
            return self.type
        made = {extent.placeholder: ANY for extent in self.extents}
        return with_dims(self.type, lambda dim: dim.substitute(made))

    @cached_property
    def known_requirements(self) -> tuple[Requirement, ...]:
        """The requirements that contain no extent that the op introduces."""
        made = {extent.placeholder for extent in self.extents}
        return tuple(each for each in self.requirements if made.isdisjoint(each.names))

    def renamed(self, names: Mapping[str, str]) -> Inference:
        """Returns the inference with names for the placeholders."""
        if not self.extents:
            return self
        values: dict[str, Dim] = {placeholder: symbol(name) for placeholder, name in names.items()}

        def rename(dim: DimExpr) -> Dim:
            return dim.substitute(values)

        requirements = tuple(each.substitute(values) for each in self.requirements)
        extents = tuple(UnnamedExtent(names[each.placeholder], each.hint, each.at_most) for each in self.extents)
        return Inference(with_dims(self.type, rename), requirements, extents)

    @property
    def bounds(self) -> tuple[NewExtent, ...]:
        """The extents that the op introduces, after they have names."""
        return tuple(NewExtent(each.placeholder, each.at_most) for each in self.extents)

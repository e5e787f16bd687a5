"""What a shape rule is told: the operands' types, and the elements of small integer operands where they are known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeAlias, overload

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.broadcast import broadcast_requirements, broadcast_shapes
from xrelay.dialects.relay.core.types import AnyTensorType, element_type_of, joined_types, shape_of
from xrelay.errors import ConstraintError, TensorTypeError, TypeInferenceError
from xrelay.index_algebra.dims import AnyDim, Dim, Shape, certainly_differ, maximum, minimum, shape_text, symbol
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Equal, Requirement

Elements: TypeAlias = tuple[Dim, ...]
"""The elements of an integer tensor in row-major order, each a number or an expression over named dimensions."""


MOST_EXTENT = (1 << 63) - 1
"""No extent is greater: native code holds them in 64 bits."""


@dataclass(frozen=True)
class MadeExtent:
    """An extent that an op makes: the placeholder that stands for it, a name for it, and what it never exceeds."""

    placeholder: str
    hint: str
    at_most: Dim | None


class Demands(Protocol):
    """Something in whose name a constraint is demanded: an op, or the facts of one."""

    def require(
        self, condition: bool, constraint: str, message: str | Callable[[], str], *, help: str | None = None
    ) -> None:
        """Raise `ConstraintError` naming the op and `constraint` unless `condition` holds."""
        ...


class Facts(Sequence[Attribute]):
    """The operand types of one op in their order, what is known of the operands' elements, and the rule's demands.

    A rule asks (`shape`, `element`, `elements`) and demands (`require`, `require_equal`). It sees nothing else, so that
    what it gives can be remembered for every op of the same types, properties and elements. What it demands and nobody
    can decide yet is in `requirements`, the extents that it makes are in `extents`.
    """

    def __init__(self, op_name: str, types: Sequence[Attribute], elements: Sequence[Elements | None] = ()):
        self.op_name = op_name
        self.types = tuple(types)
        self._elements = tuple(elements)
        self.requirements: dict[Hashable, Requirement] = {}
        self.extents: list[MadeExtent] = []

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
        """The type of operand `index`, required to be a tensor."""
        type = self.types[index]
        if not isinstance(type, TensorType):
            raise ConstraintError(self.op_name, constraint, f"operand #{index} must be a tensor, found {type}")
        try:
            shape_of(type)
        except TensorTypeError as error:
            raise ConstraintError(self.op_name, constraint, error.message) from error
        return type

    def shape(self, index: int, constraint: str = "C0") -> Shape:
        """The shape of operand `index`, required to be a tensor."""
        return shape_of(self.tensor(index, constraint))

    def element(self, index: int, constraint: str = "C0") -> Attribute:
        """The element type of operand `index`, required to be a tensor."""
        return element_type_of(self.tensor(index, constraint))

    def operand(self, index: int, constraint: str = "C0") -> tuple[Shape, Attribute]:
        """Shape and element type of operand `index`, required to be a tensor."""
        type = self.tensor(index, constraint)
        return shape_of(type), element_type_of(type)

    def elements(self, index: int) -> Elements | None:
        """The elements of operand `index`; `None` where they are not known."""
        return self._elements[index] if index < len(self._elements) else None

    # --- what is demanded --------------------------------------------------------------------------------------

    def require(
        self, condition: bool, constraint: str, message: str | Callable[[], str], *, help: str | None = None
    ) -> None:
        """Raise `ConstraintError` naming the op and `constraint` unless `condition` holds.

        A message that is long in the making, as one with a type in it is, is given by a function.
        """
        if not condition:
            text = message if isinstance(message, str) else message()
            raise ConstraintError(self.op_name, constraint, text, help=help)

    def broadcast(self, constraint: str, *operands: int) -> Shape:
        """The shape that the operands (all, or those named) broadcast to, as numpy says; demands that they do."""
        return self.broadcast_shapes([self.shape(index) for index in operands or range(len(self))], constraint)

    def broadcast_shapes(self, shapes: Sequence[Shape], constraint: str, what: str = "shapes") -> Shape:
        """The shape that `shapes` broadcast to; demands that they do. `what` names them in the message."""
        common: Shape = ()
        for shape in shapes:
            wider = broadcast_shapes(common, shape)
            if wider is None:
                texts = [shape_text(each) for each in shapes]
                found = " and ".join((", ".join(texts[:-1]), texts[-1]))
                raise ConstraintError(self.op_name, constraint, f"{what} {found} do not broadcast")
            for requirement in broadcast_requirements(common, shape, constraint, "extents"):
                self.keep(requirement)
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
        """Demand that two extents are equal; `what` names both sides, e.g. "in-channels".

        `message` is said in place of both where they certainly differ.
        """
        if certainly_differ(lhs, rhs):
            self.require(False, constraint, f"{what} {lhs} != {rhs}" if message is None else message, help=help)
        if lhs != rhs:
            self.keep(Equal(lhs, rhs, constraint=constraint, about=what.rstrip(":")))

    def require_at_least(
        self, dim: Dim, least: Dim, constraint: str, what: str, *, message: str | Callable[[], str] | None = None
    ) -> None:
        """Demand that an extent is `least` or more, as one that divides has to be 1 or more.

        `message` is said in place of both where it certainly is less.
        """
        room = -1 if isinstance(least, int) and least > MOST_EXTENT else dim - least
        if isinstance(room, int):
            said = f"{what} {dim} is less than {least}" if message is None else message
            self.require(room >= 0, constraint, said)
        else:
            self.keep(AtLeast(dim, least, constraint=constraint, about=what))

    def require_repeats(self, own: Dim, target: Dim, constraint: str, what: str) -> None:
        """Demand of the run that `own` is 1 or `target`, to which an axis is repeated.

        It broadcasts, is no greater unless it is 1, and is no 0 unless `target` is: of no element there is no other.
        What broadcasts with a number other than 1 is that already.
        """
        self.keep(Broadcasts(own, target, constraint=constraint, about=what))
        is_decided = isinstance(target, int) and target != 1
        if not is_decided and not any(isinstance(side, AnyDim) for side in (own, target)):
            self.require_at_least(maximum(1, target), own, constraint, what)
            self.require_at_least(own, minimum(1, target), constraint, what)

    def keep(self, requirement: Requirement) -> None:
        """Leave a demand that names decide; of Any nothing can be demanded."""
        if not any(isinstance(side, AnyDim) for side in (requirement.lhs, requirement.rhs)):
            kept = requirement.canonical()
            self.requirements.setdefault((type(kept), kept.lhs, kept.rhs), kept)

    def new_extent(self, hint: str, place: int = 0, *, at_most: Dim | None = None) -> Dim:
        """An extent that the op makes: a placeholder, which gets a name of its own for each op, `hint` if it is free.

        `place` tells the extents of an op apart, as the axes do. A rule gives an extent the same place whatever is
        known of the others: the name follows the place. `at_most` is what the extent never exceeds.
        """
        placeholder = f"%{place}"
        if any(extent.placeholder == placeholder for extent in self.extents):
            raise TypeInferenceError(f"the rule of {self.op_name} makes two extents at place {place}")
        self.extents.append(MadeExtent(placeholder, hint, at_most))
        return symbol(placeholder)

    def with_new_extents(self, type: Attribute) -> Attribute:
        """`type` with an extent that the op makes wherever it has no integer."""
        places = count()

        def chosen(dims: Sequence[Dim]) -> Dim:
            place = next(places)
            return dims[0] if isinstance(dims[0], int) else self.new_extent("d", place)

        found = joined_types([type], chosen, by_place=True)
        return type if found is None else found

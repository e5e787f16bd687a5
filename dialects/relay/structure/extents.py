"""`relay.extents` and `relay.cut`, which bind names of extents to values, and descriptions of extents for messages.

Both ops stay in the function that calls kernels, down to the loop level, where the names are sizes from the op on. The
generated names are meaningless to users, so messages describe the extents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerType, StringAttr, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core.constraints import AxisOf, Constraints
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.attribute_names import BINDS, EXTENT_DESCRIPTIONS
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import sources_or_location
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import is_complete, shape_of, tensor_type
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import MAX_EXTENT, Dim, Symbol, single_atom, symbol
from xrelay.index_algebra.requirement import Requirement

MAX_EXTENTS = 64
"""The maximum number of extents that an op binds, equal to the limit of known elements (`known_elements.LIMIT`)."""


class ExtentDescription(NamedTuple):
    """The description of an extent, and the message for a negative one, with `{value}` for the number."""

    subject: str
    failure: str

    @staticmethod
    def attribute(rows: Iterable[ExtentDescription]) -> ArrayAttr[DictionaryAttr]:
        """Returns the descriptions as an attribute."""
        return ArrayAttr(
            [DictionaryAttr({"is": StringAttr(each.subject), "fails": StringAttr(each.failure)}) for each in rows]
        )


class BindingOp(RelayOp):
    """Base of the ops whose only effect is to bind names of extents. `relay.binds` lists the names in order."""

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the op binds, in order; empty before `relay-infer-type`."""
        return tuple(extent.name for extent in new_extents(self))

    def verify_(self) -> None:
        """Checks the constraints of all operators, and that either all extents or none have names."""
        super().verify_()
        if BINDS in self.attributes and all(map(is_complete, self.operand_types)):
            count = len(self.inference(self.operand_types).extents)
            if len(self.names) != count:
                raise VerifyException(f"[{self.name} C2] {BINDS} has {len(self.names)} names for {count} extents")


@irdl_op_definition
class ExtentsOp(BindingOp):
    """The operand itself, an integer or a list of integers, whose elements become named extents.

    `relay.binds` has a name for each element, in order, even for known elements. An element that is negative, or too
    large for an extent (2**47 or more), is an error at run time.

    Constraints:
    - C1: the operand has integer elements, and rank 0 or rank 1 and a known extent of at most 64.
    - C2: `relay.binds`, which `relay-infer-type` sets if it is missing, has as many names as there are elements.
    - C3: no element is negative, or 2**47 or more.

    Example:
    ```mlir
    %v = relay.extents(%s) {relay.binds = #relay.bounds<p, q>} : (tensor<2xi64>) -> tensor<2xi64>
    ```

    """

    name = "relay.extents"

    data = operand_def()

    def description(self, number: int) -> ExtentDescription:
        """Returns the description of an extent by its number."""
        rows = self.attributes.get(EXTENT_DESCRIPTIONS)
        if is_attribute(rows, ArrayAttr[DictionaryAttr]) and number < len(rows.data):
            subject, failure = (rows.data[number].data.get(key) for key in ("is", "fails"))
            if isinstance(subject, StringAttr) and isinstance(failure, StringAttr):
                return ExtentDescription(subject.data, failure.data)
        return ExtentDescription(f"element {number} of {self.name}", f"element {number} is {{value}}")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type, and creates a name for each element; C1."""
        shape, element = facts.operand(0)
        count = shape[0] if len(shape) == 1 else 1
        fits = len(shape) <= 1 and isinstance(count, int) and count <= MAX_EXTENTS
        text = "the extents must be an integer, or a list of at most 64"
        is_list = fits and isinstance(element, IntegerType) and element.width.data > 1
        facts.require(is_list, "C1", lambda: f"{text}, found {facts[0]}")
        for index in range(count if isinstance(count, int) else 0):
            facts.new_extent("e", index)
        return facts.tensor(0)

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the names."""
        (count,) = facts.shape(0) if facts.shape(0) else (1,)
        return tuple(facts.new_extent("e", index) for index in range(count)) if isinstance(count, int) else None

    def evaluate(self, data: Array) -> Array:
        """Returns the operand after checking that its elements are valid extents (C3)."""
        for index, element in enumerate(data.reshape(-1).tolist()):
            if not 0 <= element < MAX_EXTENT:
                description = self.description(index)
                message = (
                    f"{description.subject} is {element}"
                    if element > 0
                    else description.failure.replace("{value}", str(element))
                )
                raise InterpreterError(f"[{self.name} C3] {message}", help="extents are 0 or more, and less than 2**47")
        return data


@irdl_op_definition
class CutOp(BindingOp):
    """The first `count` elements of a tensor along an axis, where `count` becomes a named extent.

    Constraints:
    - C1: `axis` is an axis of the data.
    - C2: `relay.binds`, which `relay-infer-type` sets if it is missing, has one name.
    - C3: `count` is an integer of rank 0.
    - C4: the count is neither negative nor more than the extent of the axis.

    Example:
    ```mlir
    %i = relay.cut(%buffer, %count) {axis = 0, relay.binds = #relay.bounds<k <= 8>}
        : (tensor<8x1xi32>, tensor<i64>) -> tensor<?x1xi32, #relay.dims<k>>
    ```

    """

    name = "relay.cut"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf("axis")}

    data = operand_def()
    count = operand_def()

    axis = int_property(0)

    @property
    def axis_number(self) -> int:
        """The axis, counted from the front."""
        return self.axis.value.data % len(shape_of(self.data.type))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type with a new named extent along the axis; C3."""
        (shape, element), (rank, kind) = facts.operand(0), facts.operand(1)
        is_integer = rank == () and isinstance(kind, IntegerType) and kind.width.data > 1
        facts.require(is_integer, "C3", lambda: f"the count must be an integer of rank 0, found {facts[1]}")
        axis = self.axis.value.data % len(shape)
        kept = facts.new_extent("k", at_most=shape[axis])
        return tensor_type((*shape[:axis], kept, *shape[axis + 1 :]), element)

    def evaluate(self, data: Array, count: Array) -> Array:
        """Slices the data; checks C4."""
        axis, length = self.axis_number, int(count)
        if not 0 <= length <= data.shape[axis]:
            raise InterpreterError(
                f"[{self.name} C4] the count is {length}, axis {axis} has {data.shape[axis]} elements"
            )
        return data[(slice(None),) * axis + (slice(length),)]


EXTENT_OPS = (ExtentsOp, CutOp)
"""The ops that bind names of extents."""


class ExtentOrigin(NamedTuple):
    """The description of an extent, and the location of the op that introduces it."""

    description: str
    location: str | None

    def seen_from(self, location: str | None) -> str:
        """Returns the description, followed by the location if it differs from `location`."""
        return self.description if self.location in (None, location) else f"{self.description} at {self.location}"


def extent_origins(function: FuncOp) -> dict[str, ExtentOrigin]:
    """Returns the origins of the extents that ops and regions of `function` introduce, by name."""
    found: dict[str, ExtentOrigin] = {}
    for op in all_ops(function):
        names, location = [extent.name for extent in new_extents(op)], first_location(sources_or_location(op))
        if isinstance(op, LoopOp):
            for name, axis in _axes(argument.type for argument in op.body.block.args):
                found.setdefault(name, ExtentOrigin(f"extent {axis} of a carried value of {op.name}", location))
        axes = dict(_axes(result.type for result in op.results)) if names else {}
        for number, name in enumerate(names):
            found[name] = ExtentOrigin(_description(op, number, axes.get(name)), location)
    return found


def extent_origins_around(op: Operation) -> dict[str, ExtentOrigin]:
    """Returns `extent_origins` of the function that contains `op`."""
    current: Operation | None = op
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    return {} if current is None else extent_origins(current)


def describe_requirement(
    requirement: Requirement, origins: Mapping[str, ExtentOrigin], location: str | None
) -> Requirement:
    """Returns a requirement of an op at `location` with generated names replaced by descriptions."""
    descriptions = {name: origins[name].seen_from(location) for name in requirement.names if name in origins}

    def described(dim: Dim) -> Dim:
        name = _name(dim)
        return symbol(
            descriptions[name] if name in descriptions else _with_descriptions(str(dim), descriptions, "({})")
        )

    if not descriptions:
        return requirement
    about = _with_descriptions(requirement.about, descriptions, "{}")
    return replace(requirement, lhs=described(requirement.lhs), rhs=described(requirement.rhs), about=about)


def _with_descriptions(text: str, descriptions: Mapping[str, str], form: str) -> str:
    def described(match: re.Match[str]) -> str:
        return form.format(descriptions[match[0]]) if match[0] in descriptions else match[0]

    return re.sub(r"[A-Za-z_]\w*", described, text)


def _name(dim: Dim) -> str | None:
    """Returns the name of a dimension that consists of a single name, else None."""
    atom = single_atom(dim)
    return atom.name if isinstance(atom, Symbol) else None


def first_location(sources: Attribute | None) -> str | None:
    """Returns the first source location of a check, or None."""
    first = sources.data[0] if isinstance(sources, ArrayAttr) and sources.data else None
    return first.data if isinstance(first, StringAttr) else None


def _description(op: Operation, number: int, axis: int | None) -> str:
    if isinstance(op, ExtentsOp):
        return op.description(number).subject
    if isinstance(op, CutOp):
        return "the length of a result"
    return f"a size of {op.name}" if axis is None else f"extent {axis} of {op.name}"


def _axes(types: Iterator[Attribute]) -> Iterator[tuple[str, int]]:
    """Yields the names that are extents in some types, including fields of tuples, with their axes."""
    pending, seen = list(types)[::-1], set[int]()
    while pending:
        current = pending.pop()
        if isinstance(current, TensorType):
            for axis, dim in enumerate(shape_of(current)):
                if (name := _name(dim)) is not None:
                    yield name, axis
        elif isinstance(current, TupleType) and id(current) not in seen:
            seen.add(id(current))
            pending += reversed(current.types.data)

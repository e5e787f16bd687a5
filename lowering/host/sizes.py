"""The values of extents in a graph function, and the assertions on them.

Both are at the beginning of the function if they follow from the names of its inputs, otherwise after the op that
defines the last name they use.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects import cf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.extents import ExtentOrigin, describe_requirement, first_location
from xrelay.dialects.shared.attribute_names import REQUIRES, SOURCES
from xrelay.dialects.shared.locations import describe_location, sources_or_location
from xrelay.dialects.shared.requirements import RequirementsAttr, all_requirements
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.requirement import Broadcasts, Equal, Requirement
from xrelay.passes.loop.dim_code import DimCode, EmissionPoint


@dataclass(eq=False)
class _Scope:
    """The values and assertions at one place. They are inserted when the scope of the place ends."""

    place: EmissionPoint
    code: Block
    block: Block
    """The block of the loop level that contains the place."""
    after: Operation | None = None
    """The op before the place; None for the beginning of the block."""
    assertions: dict[Hashable, cf.AssertOp] = field(default_factory=dict[Hashable, cf.AssertOp])
    """Assertions by message and relation: extents with other names may have the same description."""
    required: set[Hashable] = field(default_factory=set[Hashable])
    is_branch: bool = False
    """Whether code that may fail stays in the block even if its names are known outside."""
    computed: set[Dim] = field(default_factory=set[Dim])
    """For a region: the extents that are computed in it."""

    def finish(self, origins: Mapping[str, ExtentOrigin]) -> None:
        """Inserts the values, then the assertions."""
        for check in self.place.checks:
            if check.requirement is None or _relation(check.requirement) not in self.required:
                text = (
                    check.text
                    if check.requirement is None
                    else describe_requirement(check.requirement, origins, None).text
                )
                self.assertions[check.text] = assertion = cf.AssertOp(check.holds, f"shape mismatch: {text}")
                if check.requirement is not None:
                    assertion.attributes[REQUIRES] = RequirementsAttr((check.requirement,))
        ops = [*self.code.ops, *self.assertions.values()]
        for op in self.code.ops:
            op.detach()
        point = InsertPoint.at_start(self.block) if self.after is None else InsertPoint.after(self.after)
        Rewriter.insert_op(ops, point)


class HostSizes:
    """Computes extents from the sizes of names. The first names are arguments of the function's block."""

    def __init__(self, block: Block, origins: Mapping[str, ExtentOrigin]) -> None:
        """Starts without names; `origins` describe the names that ops of the function define."""
        self.origins = origins
        self._code = DimCode({}, Builder(InsertPoint.at_end(code := Block())))
        self._scopes = [_Scope(self._code.first, code, block)]
        self._scope_of = {self._code.first: self._scopes[0]}
        self._regions = [self._scopes[0]]
        """The scopes at the beginnings of the function and of the regions around the current block."""

    def bind_arguments(self, names: Sequence[str]) -> None:
        """Appends an argument to the function's block for the size of each name."""
        block, sizes = self._scopes[0].block, dict[str, SSAValue]()
        for name in names:
            sizes[name] = block.insert_arg(IndexType(), len(block.args))
            sizes[name].name_hint = name
        self._code.add_names(sizes)

    def enter(self, block: Block, names: Mapping[str, SSAValue] | None = None, *, is_branch: bool = False) -> None:
        """Makes `block` the current block, where `names` are known as well.

        In a branch, an extent that only the branch uses is computed in it, because it may be invalid elsewhere.
        """
        scope = self._open({} if names is None else names, block, None)
        scope.is_branch = is_branch
        self._regions.append(scope)

    def leave(self, block: Block) -> None:
        """Ends `block`: names that became known in it are no longer known."""
        while self._scopes and self._scopes[-1].block is block:
            last = self._scopes.pop()
            last.finish(self.origins)
            self._code.leave(last.place)
        self._regions.pop()

    def bind_after(
        self, op: Operation, names: Mapping[str, SSAValue], values: Mapping[Dim, SSAValue] | None = None
    ) -> None:
        """Makes `names`, and the `values` of dimensions over them, known after `op`, the last op of its block."""
        assert op.parent is not None, "ops are added to a block"
        self._open(names, op.parent, op, values)

    def is_known(self, name: str) -> bool:
        """Whether a name has a value here."""
        return self._code.is_known(name)

    def extents(self, dims: Iterable[Dim], place: Operation) -> list[SSAValue]:
        """Returns the values of `dims`; `LoweringError` at `place` for an unknown name."""
        with _errors_at(place):
            return [self._extent(dim) for dim in dims]

    def sizes(self, dims: Iterable[Dim], place: Operation) -> list[SSAValue | int]:
        """Like `extents`, but static extents are returned as numbers, and no range is checked."""
        with _errors_at(place):
            return [dim if isinstance(dim, int) else self._value(dim) for dim in dims]

    def require(self, op: Operation) -> None:
        """Asserts the requirements of `op` and of the kernel that it calls.

        The assertion is at the point where the names become known, or at the beginning of the region of `op` if that is
        later. So it precedes each op of the region that writes to a buffer whose size depends on the requirement.
        """
        for name, requirements, nodes in all_requirements(op):
            for requirement in requirements:
                assertion = self._assertion(name, requirement, nodes, op)
                scope, region = self._scope_of[self._code.point_of(requirement.names)], self._regions[-1]
                if scope.place.depth < region.place.depth:
                    scope = region
                relation = _relation(requirement)
                scope.assertions.setdefault((assertion.msg.data, relation), assertion)
                scope.required.add(relation)

    def finish(self) -> None:
        """Inserts all values and assertions that are left."""
        self.leave(self._scopes[0].block)

    def _extent(self, dim: Dim) -> SSAValue:
        with self._code.within(self._branch_for(dim)):
            return self._code.extent(dim)

    def _value(self, dim: Dim) -> SSAValue:
        with self._code.within(self._branch_for(dim)):
            return self._code.value(dim)

    def _branch_for(self, dim: Dim) -> EmissionPoint | None:
        """Returns the branch around the outermost region that computes an extent, if it may fail there."""
        depth = next(
            (depth for depth, region in enumerate(self._regions) if dim in region.computed), len(self._regions) - 1
        )
        self._regions[depth].computed.add(dim)
        return self._branch(depth) if self._code.may_fail(dim) else None

    def _branch(self, depth: int = -1) -> EmissionPoint | None:
        """Returns the innermost branch around a region."""
        return next((scope.place for scope in self._regions[depth::-1] if scope.is_branch), None)

    def _open(
        self,
        names: Mapping[str, SSAValue],
        block: Block,
        after: Operation | None,
        values: Mapping[Dim, SSAValue] | None = None,
    ) -> _Scope:
        for name, value in names.items():
            value.name_hint = name
        code = Block()
        place = self._code.enter(names, Builder(InsertPoint.at_end(code)), values)
        self._scopes.append(_Scope(place, code, block, after))
        self._scope_of[place] = self._scopes[-1]
        return self._scopes[-1]

    def _assertion(self, op: str, requirement: Requirement, sources: Attribute | None, place: Operation) -> cf.AssertOp:
        with _errors_at(place):
            may_fail = any(map(self._code.may_lack_value, (requirement.lhs, requirement.rhs)))
            with self._code.within(self._branch() if may_fail else None):
                holds = self._code.holds(requirement)
        return assertion_of(holds, op, requirement, sources, place, self.origins)


def assertion_of(
    holds: SSAValue,
    op: str,
    requirement: Requirement,
    sources: Attribute | None,
    place: Operation,
    origins: Mapping[str, ExtentOrigin],
) -> cf.AssertOp:
    """Returns the assertion of `requirement` for the op `op` at `place`.

    `sources` are the nodes of the model, by default those of `place`. Names in `origins` are replaced by descriptions.
    """
    places = sources_or_location(place) if sources is None else sources
    constraint = f"[{op} {requirement.constraint}]" if requirement.constraint else f"{op}:"
    described = describe_requirement(requirement, origins, first_location(places))
    about = f" {described.about}:" if described.about else ""
    assertion = cf.AssertOp(holds, f"shape mismatch: {constraint}{about} {described.text}")
    assertion.attributes[REQUIRES] = RequirementsAttr((requirement,))
    if places is not None:
        assertion.attributes[SOURCES] = places
    assertion.location = place.location
    return assertion


@contextmanager
def _errors_at(place: Operation) -> Generator[None]:
    """Sets the location of errors to `place`."""
    try:
        yield
    except LoweringError as error:
        raise LoweringError(error.message, location=describe_location(place), help=error.help) from error


def _relation(requirement: Requirement) -> Hashable:
    """Returns a key of the relation in a requirement; the order of the sides does not matter if it is symmetric."""
    sides = (requirement.lhs, requirement.rhs)
    return type(requirement), frozenset(sides) if isinstance(requirement, Equal | Broadcasts) else sides

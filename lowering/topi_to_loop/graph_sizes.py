"""What a graph function computes with extents, and what it asserts of them.

That stands at its beginning where it follows from the sizes of the names of its inputs, and else behind the op that
makes the last name that it takes.
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

from xrelay.dialects.relay.structure.extent_subjects import Subject, in_words, place_of
from xrelay.dialects.shared.attribute_names import REQUIRES, SOURCES
from xrelay.dialects.shared.locations import describe_place, sources_of, sources_or_place
from xrelay.dialects.shared.recorded_requirements import Demand, demands_of, requirements_of
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.requirement import Broadcasts, Equal, Requirement
from xrelay.passes.loop.dim_code import DimCode, Place


@dataclass(eq=False)
class _Scope:
    """What is computed and asserted at one place, to be put there when its names end."""

    place: Place
    code: Block
    block: Block
    """The block of the loop level in which the place is."""
    behind: Operation | None = None
    """The op behind which the place is; the beginning of the block without one."""
    assertions: dict[Hashable, cf.AssertOp] = field(default_factory=dict[Hashable, cf.AssertOp])
    """Each once: by what it says and what it relates, for extents of other names may have the same words."""
    demanded: set[Hashable] = field(default_factory=set[Hashable])
    is_branch: bool = False
    """Whether what may fail there fails there alone, though its names are known outside."""
    asked: set[Dim] = field(default_factory=set[Dim])
    """For a region: the extents that were asked for in it."""

    def finish(self, subjects: Mapping[str, Subject]) -> None:
        """Puts everything in its place: what is computed, then what is asserted of it."""
        for check in self.place.checks:
            if check.requirement is None or _relation(check.requirement) not in self.demanded:
                text = check.text if check.requirement is None else in_words(check.requirement, subjects, None).text
                self.assertions[check.text] = assertion = cf.AssertOp(check.holds, f"shape mismatch: {text}")
                if check.requirement is not None:
                    assertion.attributes[REQUIRES] = RequirementsAttr((check.requirement,))
        ops = [*self.code.ops, *self.assertions.values()]
        for op in self.code.ops:
            op.detach()
        point = InsertPoint.at_start(self.block) if self.behind is None else InsertPoint.after(self.behind)
        Rewriter.insert_op(ops, point)


class GraphSizes:
    """Collects what a function computes from the sizes of names, of which the first are arguments of its block."""

    def __init__(self, block: Block, subjects: Mapping[str, Subject]) -> None:
        """No names yet in a function of this block; `subjects` are what those are that it will make."""
        self.subjects = subjects
        self._code = DimCode({}, Builder(InsertPoint.at_end(code := Block())))
        self._scopes = [_Scope(self._code.first, code, block)]
        self._scope_of = {self._code.first: self._scopes[0]}
        self._regions = [self._scopes[0]]
        """The scopes at the beginning of the function and of each region around the place that code is added to."""

    def bind(self, names: Sequence[str]) -> None:
        """Appends an argument to the function's block for the size of each name."""
        block, sizes = self._scopes[0].block, dict[str, SSAValue]()
        for name in names:
            sizes[name] = block.insert_arg(IndexType(), len(block.args))
            sizes[name].name_hint = name
        self._code.know(sizes)

    def enter(self, block: Block, names: Mapping[str, SSAValue] | None = None, *, is_branch: bool = False) -> None:
        """Code is added to `block` from now on, where `names` are known as well.

        Extents that are asked for in a branch alone may be wrong where it is not taken.
        """
        scope = self._open({} if names is None else names, block, None)
        scope.is_branch = is_branch
        self._regions.append(scope)

    def leave(self, block: Block) -> None:
        """Code is no longer added to `block`: names that became known there are known no more."""
        while self._scopes and self._scopes[-1].block is block:
            last = self._scopes.pop()
            last.finish(self.subjects)
            self._code.leave(last.place)
        self._regions.pop()

    def bind_behind(
        self, op: Operation, names: Mapping[str, SSAValue], values: Mapping[Dim, SSAValue] | None = None
    ) -> None:
        """From `op` on, the last of its block, `names` are known, and `values` of extents over them."""
        assert op.parent is not None, "code is added to a block"
        self._open(names, op.parent, op, values)

    def knows(self, name: str) -> bool:
        """Whether the size of a name is known here."""
        return self._code.knows(name)

    def extents(self, dims: Iterable[Dim], place: Operation) -> list[SSAValue]:
        """The values of `dims`; `LoweringError` at `place` for one that does not follow from the names."""
        with _errors_at(place):
            return [self._extent(dim) for dim in dims]

    def sizes(self, dims: Iterable[Dim], place: Operation) -> list[SSAValue | int]:
        """As `extents`, with numbers as they are, and without checks that extents are in their range."""
        with _errors_at(place):
            return [dim if isinstance(dim, int) else self._value(dim) for dim in dims]

    def demand(self, op: Operation) -> None:
        """Asserts what `op` requires, and what the kernel that it calls does.

        That is where the names become known, or at the beginning of the branch or loop that `op` is in: before any op
        writes to a buffer that is large enough only if the end of a region does not require in vain.
        """
        for name, requirements, nodes in told_requirements(op):
            for requirement in requirements:
                assertion = self._assertion(name, requirement, nodes, op)
                scope, region = self._scope_of[self._code.place_of(requirement.names)], self._regions[-1]
                if scope.place.depth < region.place.depth:
                    scope = region
                relation = _relation(requirement)
                scope.assertions.setdefault((assertion.msg.data, relation), assertion)
                scope.demanded.add(relation)

    def finish(self) -> None:
        """Puts everything that is left where it belongs."""
        self.leave(self._scopes[0].block)

    def _extent(self, dim: Dim) -> SSAValue:
        with self._code.within(self._asked_in(dim)):
            return self._code.extent(dim)

    def _value(self, dim: Dim) -> SSAValue:
        with self._code.within(self._asked_in(dim)):
            return self._code.value(dim)

    def _asked_in(self, dim: Dim) -> Place | None:
        """The branch of the region that asks for an extent first, if it may fail there."""
        depth = next(
            (depth for depth, region in enumerate(self._regions) if dim in region.asked), len(self._regions) - 1
        )
        self._regions[depth].asked.add(dim)
        return self._branch(depth) if self._code.may_fail(dim) else None

    def _branch(self, depth: int = -1) -> Place | None:
        """The branch that a region is in."""
        return next((scope.place for scope in self._regions[depth::-1] if scope.is_branch), None)

    def _open(
        self,
        names: Mapping[str, SSAValue],
        block: Block,
        behind: Operation | None,
        values: Mapping[Dim, SSAValue] | None = None,
    ) -> _Scope:
        for name, value in names.items():
            value.name_hint = name
        code = Block()
        place = self._code.enter(names, Builder(InsertPoint.at_end(code)), values)
        self._scopes.append(_Scope(place, code, block, behind))
        self._scope_of[place] = self._scopes[-1]
        return self._scopes[-1]

    def _assertion(self, op: str, requirement: Requirement, sources: Attribute | None, place: Operation) -> cf.AssertOp:
        with _errors_at(place):
            may_fail = any(map(self._code.may_lack_value, (requirement.lhs, requirement.rhs)))
            with self._code.within(self._branch() if may_fail else None):
                holds = self._code.holds(requirement)
        return assertion_of(holds, op, requirement, sources, place, self.subjects)


def assertion_of(
    holds: SSAValue,
    op: str,
    requirement: Requirement,
    sources: Attribute | None,
    place: Operation,
    subjects: Mapping[str, Subject],
) -> cf.AssertOp:
    """The assertion that `requirement` holds, which `op` at `place` makes, for the nodes `sources` of the model.

    Without nodes it is for the place.

    Names that are among `subjects` are told as what they are.
    """
    places = sources_or_place(place) if sources is None else sources
    constraint = f"[{op} {requirement.constraint}]" if requirement.constraint else f"{op}:"
    told = in_words(requirement, subjects, place_of(places))
    about = f" {told.about}:" if told.about else ""
    assertion = cf.AssertOp(holds, f"shape mismatch: {constraint}{about} {told.text}")
    assertion.attributes[REQUIRES] = RequirementsAttr((requirement,))
    if places is not None:
        assertion.attributes[SOURCES] = places
    assertion.location = place.location
    return assertion


@contextmanager
def _errors_at(place: Operation) -> Generator[None]:
    """Says of errors that they are at `place`."""
    try:
        yield
    except LoweringError as error:
        raise LoweringError(error.message, location=describe_place(place), help=error.help) from error


def told_requirements(op: Operation) -> list[Demand]:
    """What `op` requires, and what the ops of the kernel do that it calls."""
    return [Demand(op.name, requirements_of(op), sources_of(op)), *demands_of(op)]


def _relation(requirement: Requirement) -> Hashable:
    """What a requirement relates, whichever side stands first where that is one."""
    sides = (requirement.lhs, requirement.rhs)
    return type(requirement), frozenset(sides) if isinstance(requirement, Equal | Broadcasts) else sides

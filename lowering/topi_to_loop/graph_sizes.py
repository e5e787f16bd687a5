"""The beginning of a graph function with named dimensions: extents computed from their sizes, and what is asserted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import cf
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from xrelay.dialects.attribute_names import DEMANDS, REQUIRES, SOURCES
from xrelay.dialects.locations import source_names
from xrelay.dialects.relay.core.recorded_requirements import requirements_of
from xrelay.dialects.relay.core.requirements_attr import RequirementsAttr
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.requirement import Broadcasts, Equal, Requirement
from xrelay.passes.infra.conversion import describe_place
from xrelay.passes.loop.dim_code import DimCode


class GraphSizes:
    """Collects what a function computes from the sizes of names, which are arguments at the end of its block."""

    def __init__(self) -> None:
        """No names yet."""
        self._beginning = Block()
        self._code = DimCode({}, Builder(InsertPoint.at_end(self._beginning)))
        self._assertions: dict[str, cf.AssertOp] = {}
        self._demanded: set[Hashable] = set()

    def bind(self, names: Sequence[str], block: Block) -> None:
        """Appends an argument to `block` for the size of each name."""
        sizes: dict[str, SSAValue] = {}
        for name in names:
            sizes[name] = block.insert_arg(IndexType(), len(block.args))
            sizes[name].name_hint = name
        self._code = DimCode(sizes, Builder(InsertPoint.at_end(self._beginning)))

    def extents(self, dims: Sequence[Dim], place: Operation) -> list[SSAValue]:
        """The values of `dims`; `LoweringError` at `place` for one that does not follow from the names."""
        try:
            return [self._code.extent(dim) for dim in dims]
        except LoweringError as error:
            raise LoweringError(error.message, location=describe_place(place), help=error.help) from error

    def demand(self, op: Operation, *, at_once: bool) -> list[cf.AssertOp]:
        """Asserts what `op` requires, and what the kernel that it calls does.

        That is at the beginning of the function, or, unless `at_once`, by the assertions that are returned.
        """
        found: dict[str, cf.AssertOp] = {}
        sources = [StringAttr(name) for name in source_names(op.location)]
        told: list[tuple[str, Sequence[Requirement], Attribute | None]] = [
            (op.name, requirements_of(op), ArrayAttr(sources) if sources else None)
        ]
        rows = op.attributes.get(DEMANDS)
        for row in rows if isa(rows, ArrayAttr[DictionaryAttr]) else ():
            name, requires = row.data.get("op"), row.data.get("requires")
            if isinstance(name, StringAttr) and isinstance(requires, RequirementsAttr):
                told.append((name.data, requires.data, row.data.get("sources")))
        for name, requirements, nodes in told:
            for requirement in requirements:
                assertion = self._assertion(name, requirement, nodes, op)
                found.setdefault(assertion.msg.data, assertion)
                if at_once:
                    self._demanded.add(_relation(requirement))
        if not at_once:
            return list(found.values())
        self._assertions |= {text: each for text, each in found.items() if text not in self._assertions}
        return []

    def finish(self, block: Block) -> None:
        """Moves everything to the beginning of `block`: what is computed, then what is asserted of it."""
        for check in self._code.checks:
            if check.requirement is None or _relation(check.requirement) not in self._demanded:
                self._assertions[check.text] = assertion = cf.AssertOp(check.holds, f"shape mismatch: {check.text}")
                if check.requirement is not None:
                    assertion.attributes[REQUIRES] = RequirementsAttr((check.requirement,))
        ops = [*self._beginning.ops, *self._assertions.values()]
        for op in self._beginning.ops:
            op.detach()
        Rewriter.insert_op(ops, InsertPoint.at_start(block))

    def _assertion(self, op: str, requirement: Requirement, sources: Attribute | None, place: Operation) -> cf.AssertOp:
        constraint = f"[{op} {requirement.constraint}]" if requirement.constraint else f"{op}:"
        about = f" {requirement.about}:" if requirement.about else ""
        try:
            holds = self._code.holds(requirement)
        except LoweringError as error:
            raise LoweringError(error.message, location=describe_place(place), help=error.help) from error
        assertion = cf.AssertOp(holds, f"shape mismatch: {constraint}{about} {requirement.text}")
        assertion.attributes[REQUIRES] = RequirementsAttr((requirement,))
        if sources is not None:
            assertion.attributes[SOURCES] = sources
        assertion.location = place.location
        return assertion


def _relation(requirement: Requirement) -> Hashable:
    """What a requirement relates, whichever side stands first where that is one."""
    sides = (requirement.lhs, requirement.rhs)
    return type(requirement), frozenset(sides) if isinstance(requirement, Equal | Broadcasts) else sides

"""Finds the regions of a function that `relay.annotation.compiler_begin` and `compiler_end` enclose.

A begin opens a region for its compiler. An op that uses a value of an open region joins it, and merges all open regions
that it uses values of. An end closes the region: users of its value are outside. Constants, functions without captured
values, and other ops without arguments belong to the region of each user.

A region is in one block. A branch or a closure that captures values of an open region joins it as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.ops.annotation import CompilerAnnotationOp, CompilerBeginOp, CompilerEndOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import dependencies
from xrelay.errors import PassError
from xrelay.passes.graph.scopes import ValueUses
from xrelay.passes.infra.digraph import DisjointSets, nodes_on_cycles, post_order
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.byoc.hooks import DEFAULT


@dataclass(eq=False)
class AnnotatedRegion:
    """A region: its ops, and the begins and ends that enclose them."""

    number: int
    """The index of its first begin among the begins of the function, in Relay's visit order; part of Relay's names."""
    compiler: str
    begins: list[CompilerBeginOp] = field(default_factory=list[CompilerBeginOp])
    """In Relay's visit order, as are the ends."""
    members: list[Operation] = field(default_factory=list[Operation])
    """The ops of the region in program order, without the annotations."""
    ends: list[CompilerEndOp] = field(default_factory=list[CompilerEndOp])

    @property
    def block(self) -> Block | None:
        """The block that contains the region."""
        return self.begins[0].parent


Atom: TypeAlias = AnnotatedRegion | Operation
"""A region, or an op outside of all regions."""


class RegionSet:
    """The regions of `function`.

    Raises `PassError`, naming `pass_name`, for inconsistent annotations: an end for another compiler than the region's
    or of a value that is in no region, ops of two compilers without annotations between them, a value that enters a
    region without a begin, and a region without an end.
    """

    def __init__(self, function: FuncOp, pass_name: str):
        self._pass_name = pass_name
        self.uses = ValueUses(function)
        self._joined = DisjointSets[int]()
        self._compilers: list[str] = []
        self._numbers: dict[Operation, int] = {}
        """Op → a region that it joined."""
        order = _visit_order(function)
        for op in order:
            self._visit(op)
        found = {
            number: AnnotatedRegion(number, compiler)
            for number, compiler in enumerate(self._compilers)
            if self._joined.root(number) == number
        }
        self.regions: list[AnnotatedRegion] = list(found.values())
        """In the order of their numbers."""
        self._regions = {op: found[self._joined.root(number)] for op, number in self._numbers.items()}
        self.ends: list[CompilerEndOp] = []
        """All ends, in Relay's visit order."""
        self._fill(order, walk_ops(function))

    def region(self, op: Operation) -> AnnotatedRegion | None:
        """Returns the region of `op`, a member or an annotation."""
        return self._regions.get(op)

    def atom(self, op: Operation) -> Atom:
        """Returns the region of `op`, or `op` if it is in none."""
        return self._regions.get(op, op)

    def needed_atoms(self, atom: Atom) -> list[Atom]:
        """Returns the atoms of the same block whose values `atom` uses, without duplicates, in order of use.

        Values that a region uses without a begin belong to it.
        """
        if isinstance(atom, AnnotatedRegion):
            ops = [op for begin in atom.begins for op in self.uses.needed_ops(begin)]
        else:
            ops = self.uses.needed_ops(atom)
        return list(dict.fromkeys(map(self.atom, ops)))

    def ordered_needs(self) -> dict[Atom, list[Atom]]:
        """Returns the ended regions and their dependencies, in topological order, each mapped to the atoms it needs.

        Raises `PassError` if a region depends on a value that depends on the region.
        """
        needs: dict[Atom, list[Atom]] = {}
        done: dict[Atom, list[Atom]] = {}
        for start in map(self.atom, self.ends):
            pending = [start]
            while pending:
                atom = pending[-1]
                if atom in needs:
                    done.setdefault(pending.pop(), needs[atom])
                    continue
                needs[atom] = self.needed_atoms(atom)
                pending += (need for need in reversed(needs[atom]) if need not in needs)
        circles = nodes_on_cycles(needs)
        wrong = next((atom for atom in circles if isinstance(atom, AnnotatedRegion)), None)
        if wrong is not None:
            message = f"the region for {wrong.compiler!r} that begins here depends on its own result"
            raise self._error(wrong.begins[0], message, "end the region where the other value is computed")
        return done

    def belongs_to_users(self, value: SSAValue) -> bool:
        """Returns whether `value` is defined by an op without arguments: a constant, a function, a tensor of zeros."""
        owner = value.owner
        return isinstance(owner, Operation) and not self.uses.of(owner) and owner not in self._regions

    # --- finding ---------------------------------------------------------------------------------------------------

    def _visit(self, op: Operation) -> None:
        if isinstance(op, CompilerBeginOp):
            self._numbers[op] = len(self._compilers)
            self._compilers.append(op.compiler.data)
            return
        opened = [number for value in self.uses.of(op) if (number := self._open_region(op, value)) is not None]
        if isinstance(op, CompilerEndOp) and not opened:
            raise self._error(op, "the annotation ends no region", "begin it with compiler_begin")
        if not opened:
            return
        if op.has_trait(IsTerminator):
            raise self._error(op, "a region does not end before this op", "annotate its results with compiler_end")
        names = [self._compilers[self._joined.root(number)] for number in opened]
        if isinstance(op, CompilerEndOp):
            names.append(op.compiler.data)
        for name in names:
            if name != names[0]:
                raise self._error(
                    op, f"regions for {names[0]!r} and {name!r} meet here", "end the one before the other begins"
                )
        for number in opened:
            self._joined.merge(number, opened[0])
        self._numbers[op] = opened[0]

    def _open_region(self, user: Operation, value: SSAValue) -> int | None:
        """The region that is open at `value`, for its use by `user`."""
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is not user.parent or isinstance(owner, CompilerEndOp):
            return None
        return self._numbers.get(owner)

    def _fill(self, order: Sequence[Operation], text: Iterable[Operation]) -> None:
        """Adds the ops to their regions."""
        for op in order:
            region = self._regions.get(op)
            if region is not None and isinstance(op, CompilerBeginOp):
                region.begins.append(op)
            elif region is not None and isinstance(op, CompilerEndOp):
                region.ends.append(op)
                self.ends.append(op)
        for op in text:
            region = self._regions.get(op)
            if region is not None and not isinstance(op, CompilerAnnotationOp):
                region.members.append(op)
                self._require_begins(op, region)

    def _require_begins(self, op: Operation, region: AnnotatedRegion) -> None:
        for value in self.uses.of(op):
            if region.compiler == DEFAULT and isinstance(value.type, FunctionType):
                # As in Relay, the callee of a call is not an argument; a "default" region is not outlined.
                continue
            if self._comes_from_outside(value, region) and not self.belongs_to_users(value):
                raise self._error(
                    op,
                    f"an input of the region for {region.compiler!r} is not annotated",
                    "annotate all arguments with compiler_begin",
                )

    def _comes_from_outside(self, value: SSAValue, region: AnnotatedRegion) -> bool:
        owner = value.owner
        if not isinstance(owner, Operation) or isinstance(owner, CompilerEndOp):
            return True
        return self._regions.get(owner) is not region

    def _error(self, op: Operation, message: str, help: str) -> PassError:
        return PassError(f"{self._pass_name}: {message}", location=location_of(op), help=help)


def _visit_order(function: FuncOp) -> list[Operation]:
    """Returns the ops of `function` in the order in which Relay visits its expression.

    The traversal starts at the results. Operands precede their users, the first operand first, and ops in regions
    precede the op around them. Ops without uses are last.
    """
    ends = [block.last_op for block in function.body.blocks if block.last_op is not None]
    inside = (op for op in walk_ops(function) if op is not function)
    return post_order([*ends, *inside], dependencies)

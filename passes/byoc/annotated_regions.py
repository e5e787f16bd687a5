"""Finds the regions of a function that `relay.annotation.compiler_begin` and `compiler_end` enclose.

A begin opens a region for its compiler, which every op joins that uses a value of it; what an op uses of several open
regions makes one region of them. An end closes: who uses its value is outside. Constants, functions that use nothing
around them, and other ops without arguments belong to whoever uses them.

A region lies in one block. Of a branch or a closure that uses values of an open region the op as a whole joins it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xrelay.dialects.locations import location_of
from xrelay.dialects.relay.ops.annotation import CompilerAnnotationOp, CompilerBeginOp, CompilerEndOp
from xrelay.errors import PassError
from xrelay.passes.byoc.target_support import DEFAULT
from xrelay.passes.graph.cycles import nodes_on_cycles
from xrelay.passes.graph.value_uses import ValueUses, visit_order
from xrelay.passes.infra.verify import walk_ops


@dataclass(eq=False)
class AnnotatedRegion:
    """The ops between some begins and ends."""

    number: int
    """That of its first begin among the begins of the function, as Relay visits them; it is part of Relay's names."""
    compiler: str
    begins: list[CompilerBeginOp] = field(default_factory=list[CompilerBeginOp])
    """In the order in which Relay visits them, as the ends."""
    members: list[Operation] = field(default_factory=list[Operation])
    """The ops inside, in the order of the text, without the annotations."""
    ends: list[CompilerEndOp] = field(default_factory=list[CompilerEndOp])

    @property
    def block(self) -> Block | None:
        """The block in which the region lies."""
        return self.begins[0].parent


Atom: TypeAlias = AnnotatedRegion | Operation
"""A region, or an op that is in none."""


class RegionSet:
    """The regions of `function`.

    Raises `PassError`, naming `pass_name`, where the annotations contradict each other: an end of another compiler
    than the region's or of a value that is in none, ops of two compilers without a border between them, a value
    that comes into a region without a begin, and a region that does not end.
    """

    def __init__(self, function: FuncOp, pass_name: str):
        self._pass_name = pass_name
        self.uses = ValueUses(function)
        self._parents: list[int] = []
        self._compilers: list[str] = []
        self._numbers: dict[Operation, int] = {}
        """Op → a region that it joined."""
        order = visit_order(function)
        for op in order:
            self._visit(op)
        found = {
            number: AnnotatedRegion(number, compiler)
            for number, compiler in enumerate(self._compilers)
            if self._parents[number] == number
        }
        self.regions: list[AnnotatedRegion] = list(found.values())
        """In the order of their numbers."""
        self._regions = {op: found[self._root(number)] for op, number in self._numbers.items()}
        self.ends: list[CompilerEndOp] = []
        """All ends, as Relay visits them."""
        self._fill(order, walk_ops(function))

    def region(self, op: Operation) -> AnnotatedRegion | None:
        """The region that `op` is in, as a member or as one of its annotations."""
        return self._regions.get(op)

    def atom(self, op: Operation) -> Atom:
        """The region that `op` is in, else `op`."""
        return self._regions.get(op, op)

    def needed_atoms(self, atom: Atom) -> list[Atom]:
        """What of its own block `atom` uses values of, each once, in the order of the uses.

        What is used in a region without a begin belongs to it.
        """
        if isinstance(atom, AnnotatedRegion):
            ops = [op for begin in atom.begins for op in self.uses.needed_ops(begin)]
        else:
            ops = self.uses.needed_ops(atom)
        return list(dict.fromkeys(map(self.atom, ops)))

    def ordered_needs(self) -> dict[Atom, list[Atom]]:
        """The regions that end and all before them, each behind what it needs, with that.

        `PassError` where a region needs a value that needs one of its own.
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
            message = f"the region for {wrong.compiler!r} that begins here needs a value that needs one of its own"
            raise self._error(wrong.begins[0], message, "end the region where the other value is computed")
        return done

    def belongs_to_users(self, value: SSAValue) -> bool:
        """Whether an op without arguments makes `value`: a constant, a function, a tensor of zeros."""
        owner = value.owner
        return isinstance(owner, Operation) and not self.uses.of(owner) and owner not in self._regions

    # --- finding ---------------------------------------------------------------------------------------------------

    def _visit(self, op: Operation) -> None:
        if isinstance(op, CompilerBeginOp):
            self._numbers[op] = len(self._parents)
            self._parents.append(len(self._parents))
            self._compilers.append(op.compiler.data)
            return
        opened = [number for value in self.uses.of(op) if (number := self._open_region(op, value)) is not None]
        if isinstance(op, CompilerEndOp) and not opened:
            raise self._error(op, "no region is open that this annotation could end", "begin it with compiler_begin")
        if not opened:
            return
        if op.has_trait(IsTerminator):
            raise self._error(op, "a region does not end before this", "annotate what it gives with compiler_end")
        first = self._root(opened[0])
        names = [self._compilers[self._root(number)] for number in opened]
        if isinstance(op, CompilerEndOp):
            names.append(op.compiler.data)
        for name in names:
            if name != names[0]:
                raise self._error(
                    op, f"regions for {names[0]!r} and {name!r} meet here", "end the one and begin the other"
                )
        for number in opened:
            self._parents[self._root(number)] = first
        self._numbers[op] = first

    def _open_region(self, user: Operation, value: SSAValue) -> int | None:
        """The region that is open at `value` where `user` uses it."""
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is not user.parent or isinstance(owner, CompilerEndOp):
            return None
        return self._numbers.get(owner)

    def _root(self, number: int) -> int:
        root = number
        while self._parents[root] != root:
            root = self._parents[root]
        while self._parents[number] != root:
            self._parents[number], number = root, self._parents[number]
        return root

    def _fill(self, order: Sequence[Operation], text: Iterable[Operation]) -> None:
        """Enter the ops into their regions."""
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
                # As Relay has it, the function that a call calls is no argument; such a region stays where it is.
                continue
            if self._comes_from_outside(value, region) and not self.belongs_to_users(value):
                raise self._error(
                    op,
                    f"a value comes into the region for {region.compiler!r} without an annotation",
                    "annotate all arguments with compiler_begin",
                )

    def _comes_from_outside(self, value: SSAValue, region: AnnotatedRegion) -> bool:
        owner = value.owner
        if not isinstance(owner, Operation) or isinstance(owner, CompilerEndOp):
            return True
        return self._regions.get(owner) is not region

    def _error(self, op: Operation, message: str, help: str) -> PassError:
        return PassError(f"{self._pass_name}: {message}", location=location_of(op), help=help)

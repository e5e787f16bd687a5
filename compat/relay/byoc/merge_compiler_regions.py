"""`relay-merge-compiler-regions`: merges neighbouring regions for the same compiler.

`relay-annotate-target` makes a region of each op, and a code generator produces better code for more ops at once. So
this pass merges a region with the regions for the same compiler whose values it uses, and removes the annotations
between them.

Before:

    %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
    %y = relay.exp(%b)
    %e = relay.annotation.compiler_end(%y) {compiler = "ccompiler"}
    %c = relay.annotation.compiler_begin(%e) {compiler = "ccompiler"}
    %z = relay.negative(%c)
    %f = relay.annotation.compiler_end(%z) {compiler = "ccompiler"}

After:

    %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
    %y = relay.exp(%b)
    %z = relay.negative(%y)
    %f = relay.annotation.compiler_end(%z) {compiler = "ccompiler"}

Left alone: regions in different blocks, and regions that are also connected by ops outside of them, as in a diamond
with one side for another compiler. Merged, the region would need a value that is computed from its own results.

Refuses (`PassError`) inconsistent annotations; see `annotated_regions.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.infra.digraph import DisjointSets, nodes_on_cycles
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.relay.byoc.annotated_regions import AnnotatedRegion, Atom, RegionSet

PASS_NAME = "relay-merge-compiler-regions"


@dataclass(frozen=True)
class RelayMergeCompilerRegionsPass(XRelayPass):
    """Merges neighbouring regions for one compiler; see the module's docstring. Exact."""

    name = PASS_NAME
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        for function in functions_of(op).values():
            if not function.is_declaration:
                merge_compiler_regions(function)


def merge_compiler_regions(function: FuncOp) -> None:
    """Merges the regions of one function."""
    regions = RegionSet(function, PASS_NAME)
    if not regions.regions:
        return
    merger = RegionMerger(regions)
    merger.run()
    inner = [
        begin
        for region in regions.regions
        for begin in region.begins
        if isinstance(end := begin.data.owner, CompilerEndOp) and merger.are_one(region, regions.region(end))
    ]
    _remove(inner)


def _remove(begins: list[CompilerBeginOp]) -> None:
    """Removes begins that follow ends, and ends without remaining uses."""
    values, ends = Replacements(), dict[Operation, None]()
    for begin in begins:
        end = begin.data.owner
        if isinstance(end, CompilerEndOp):
            values.add(begin.result, end.data)
            ends[end] = None
    values.apply()
    for begin in begins:
        erase_op(begin)
    for end in ends:
        if end.results[0].first_use is None:
            erase_op(end)


class RegionMerger:
    """Decides which regions are merged, by Relay's rule; reverts merges that create cycles.

    A region absorbs a region that it depends on, unless there is another path between them through other atoms. For
    each region, `_barred` is the set of regions that it must not absorb, as a bit mask; an absorbed region is
    represented by the bits of all regions in it.
    """

    def __init__(self, regions: RegionSet):
        self._regions = regions
        self._merged = DisjointSets[Atom]()
        self._barred: dict[Atom, int] = {}
        """The regions that a region must not absorb."""
        self._bits: dict[Atom, int] = {}
        self._needs: dict[Atom, list[Atom]] = {}

    def are_one(self, region: AnnotatedRegion, other: AnnotatedRegion | None) -> bool:
        """Returns whether both are parts of one merged region."""
        return other is not None and self._merged.root(region) is self._merged.root(other)

    def run(self) -> None:
        """Visits all regions, in topological order."""
        self._needs = self._regions.ordered_needs()
        for number, atom in enumerate(self._needs):
            self._visit(atom, 1 << number if isinstance(atom, AnnotatedRegion) else 0)
        self._split_circles()

    def _visit(self, atom: Atom, bits: int) -> None:
        needs = list(dict.fromkeys(map(self._merged.root, self._needs[atom])))
        barred = 0
        for need in needs:
            barred |= self._barred.get(need, 0) | (self._bits.get(need, 0) if _compiler(need) != _compiler(atom) else 0)
        for need in needs:
            is_same = _compiler(atom) is not None and _compiler(need) == _compiler(atom)
            if is_same and not self._bits[need] & barred:
                self._merged.merge(need, atom)
                self._barred.pop(need)
                bits |= self._bits.pop(need)
        self._bits[atom], self._barred[atom] = bits, barred

    def _split_circles(self) -> None:
        """Reverts the merges of regions that depend on each other.

        The rule visits a region after all those it depends on; a region that is absorbed later adds its own
        dependencies.
        """
        roots = {atom: self._merged.root(atom) for atom in self._needs}
        edges: dict[Atom, set[Atom]] = {root: set() for root in roots.values()}
        for atom, needs in self._needs.items():
            edges[roots[atom]] |= {roots[need] for need in needs} - {roots[atom]}
        wrong = nodes_on_cycles(edges)
        self._merged = DisjointSets[Atom]()
        for atom, root in roots.items():
            if root not in wrong:
                self._merged.merge(atom, root)


def _compiler(atom: Atom) -> str | None:
    return atom.compiler if isinstance(atom, AnnotatedRegion) else None

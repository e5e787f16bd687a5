"""Names for extents that have none: a parameter's `?`, and the extents that ops and regions make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from types import MappingProxyType

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.core.facts import MadeExtent
from xrelay.dialects.relay.core.recorded_requirements import made_extents
from xrelay.dialects.relay.core.requirements_attr import NewExtent
from xrelay.dialects.relay.core.types import dim_pairs, is_complete, joined_types, with_dims
from xrelay.dialects.relay.structure.call import names_in
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, DimExpr, Symbol, single_atom, symbol
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.function_join import FunctionJoin

UNNAMED = "d"
"""The stem of names for extents of which nothing is known."""


class DimNames:
    """Gives out names that occur nowhere in a function yet. Each op keeps the names it was given."""

    def __init__(self, function: FuncOp):
        self._taken = set(dim_names_in(function))
        self._candidates: dict[str, Iterator[str]] = {}
        """By stems, the names that were not given out yet."""
        self._given: dict[Operation, dict[str, str]] = {}
        self._makers = {extent.name: op for op in walk_ops(function) for extent in made_extents(op)}
        """The op that makes the extent of a name."""
        self._in_functions: dict[Operation, dict[tuple[Dim, Dim], Dim]] = {}
        """For ops that give one of two functions, names for extents of their results in which these differ."""
        signature = function.function_type
        self._promised = set(names_in(signature.outputs)) - set(names_in(signature.inputs)) - self._makers.keys()
        """Names of the function's results that nothing binds: a region's op that gives such an extent makes it."""

    def fresh(self, stem: str) -> str:
        """`stem` where it is free, else with a number behind it."""
        if stem not in self._candidates:
            numbered = (f"{stem}{number}" if stem == UNNAMED else f"{stem}_{number + 1}" for number in count())
            self._candidates[stem] = numbered if stem == UNNAMED else chain([stem], numbered)
        name = next(name for name in self._candidates[stem] if name not in self._taken)
        self._taken.add(name)
        return name

    def named(self, type: Attribute) -> Attribute:
        """`type` with a new name for each `?`."""

        def name(dim: DimExpr) -> Dim:
            return symbol(self.fresh(UNNAMED)) if isinstance(dim, AnyDim) else dim

        return with_dims(type, name, by_place=True)

    def of_extents(
        self, op: Operation, extents: Sequence[MadeExtent], inferred: Attribute, found: Attribute
    ) -> Mapping[str, str]:
        """A name for each extent that `op` makes.

        Where `found`, the type that the text gives, has a name in that place, and no value before `op` has it, that is
        the name. Of extents that the type does not show the names are those that `op` says already.
        """
        names = self._given.setdefault(op, {})
        written = {single_name(own): single_name(given) for own, given in dim_pairs(inferred, found)}
        if written.keys().isdisjoint(extent.placeholder for extent in extents):
            written = {each.placeholder: own.name for each, own in zip(extents, made_extents(op), strict=False)}
        for extent in extents:
            if extent.placeholder not in names:
                known = written.get(extent.placeholder)
                self._give(op, extent.placeholder, known if known is not None else self.fresh(extent.hint))
        return names

    def forget(self, op: Operation, placeholder: str) -> None:
        """Take the name back that was given for an extent which `op` makes no more."""
        self._makers.pop(self._given[op].pop(placeholder), None)

    def _give(self, op: Operation, key: str, name: str) -> None:
        """Note that `name` is that of an extent which `op` makes."""
        self._given.setdefault(op, {})[key] = name
        self._makers[name] = op

    def unbound(self, names: Sequence[str], place: Operation, type_of: Callable[[SSAValue], Attribute]) -> list[str]:
        """Those of `names` that nothing around `place` binds, neither an argument nor an op of a block there."""
        blocks: dict[Block, None] = {}
        block = place.parent
        while block is not None:
            blocks[block] = None
            parent = block.parent_op()
            block = None if parent is None or isinstance(parent, FuncOp) else parent.parent
        bound = set(names_in(type_of(argument) for block in blocks for argument in block.args))
        makers = {name: self._makers[name].parent for name in names if name in self._makers}
        return [name for name in names if name not in bound and makers.get(name) not in blocks]

    def is_made_in(self, name: str, around: Operation) -> bool:
        """Whether an op in the regions of `around` makes the extent `name`."""
        op = self._makers.get(name)
        while op is not None and op is not around:
            op = op.parent_op()
        return op is around and self._makers[name] is not around

    def names_made_by(self, op: Operation) -> Mapping[str, str]:
        """The names of the extents that a call or a region's op makes, by those that they have inside of it."""
        return self._given.get(op, {})

    def made_by(self, op: Operation) -> list[NewExtent]:
        """The extents that a call or a region's op was given names for."""
        return [NewExtent(name) for name in self.names_made_by(op).values()]

    def of_call(
        self,
        call: Operation,
        made: Iterable[str],
        output: Attribute,
        found: Attribute,
        bindings: Mapping[str, Dim] = MappingProxyType({}),
    ) -> dict[str, Dim]:
        """A name here for each extent that a callee or body makes and calls by a name of its own in its type `output`.

        The name that the text gives it stays: in `bindings`, in the type `found` of the result, or else, as where the
        result's extent is an expression of it, at its place among those that `call` says it makes.
        """
        names = self._given.setdefault(call, {})
        written = {single_name(inner): single_name(outer) for inner, outer in dim_pairs(output, found)}
        written |= {name: single_name(dim) for name, dim in bindings.items()}
        own, recorded = sorted(made), [extent.name for extent in made_extents(call)]
        if len(own) == len(recorded):
            left = set(recorded) - set(written.values())
            written |= {
                name: old for name, old in zip(own, recorded, strict=True) if name not in written and old in left
            }
        for name in own:
            if name not in names:
                known = written.get(name)
                self._give(call, name, known if known is not None else self.fresh(name.removeprefix("%")))
        return {name: symbol(names[name]) for name in made}

    def of_join(
        self,
        op: Operation,
        lhs: Attribute,
        rhs: Attribute,
        known: Attribute,
        type_of: Callable[[SSAValue], Attribute],
    ) -> Attribute | None:
        """The type of a value that has either of two types: where their extents differ, one with a name of its own.

        An extent that the type `known` of the result gives already stays, and so does a name that `op` has bound, even
        where the branches have come to agree: others say it. A name of the function's results alone is bound here.
        `None` where the types differ in more.
        """
        names = self._given.setdefault(op, {})
        made = {extent.name for extent in made_extents(op)} | set(names.values()) | self._promised
        place = count()

        def join(dims: Sequence[Dim]) -> Dim:
            key = str(next(place))
            given = dims[2] if len(dims) == 3 else ANY
            if (name := single_name(given)) is not None and name in made:
                self._give(op, key, name)
                return given
            if dims[0] == dims[1]:
                return dims[0]
            if not isinstance(given, AnyDim):
                return given
            if key not in names:
                self._give(op, key, self.fresh(UNNAMED))
            return symbol(names[key])

        def differing(one: Dim, other: Dim) -> Dim:
            known = self._in_functions.setdefault(op, {})
            if (one, other) not in known:
                known[one, other] = symbol(self.fresh(UNNAMED))
            return known[one, other]

        types = [lhs, rhs, known] if is_complete(known) else [lhs, rhs]
        functions = FunctionJoin(lambda name: bool(self.unbound([name], op, type_of)), differing)
        return joined_types(types, join, functions, by_place=True)


def single_name(dim: Dim) -> str | None:
    """The name of a dimension that is nothing but a name."""
    atom = single_atom(dim)
    return atom.name if isinstance(atom, Symbol) else None

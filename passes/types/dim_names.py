"""Names for unnamed extents: a parameter's `?`, and the extents that ops and regions introduce."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from types import MappingProxyType

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.core.facts import UnnamedExtent
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.shared.requirements import NewExtent, new_extents
from xrelay.dialects.shared.types import dim_pairs, is_complete, joined_types, with_dims
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, DimExpr, Symbol, single_atom, symbol
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.infra.verify import walk_ops

UNNAMED = "d"
"""The stem of names for unknown extents."""


class DimNames:
    """Generates names that are unused in a function. The names of an op stay the same when it is visited again."""

    def __init__(self, function: FuncOp):
        self._taken = set(dim_names_in(function))
        self._candidates: dict[str, Iterator[str]] = {}
        """Stem → the names that were not generated yet."""
        self._names: dict[Operation, dict[str, str]] = {}
        self._makers = {extent.name: op for op in walk_ops(function) for extent in new_extents(op)}
        """Name → the op that introduces the extent."""
        signature = function.function_type
        self._undefined = set(names_in(signature.outputs)) - set(names_in(signature.inputs)) - self._makers.keys()
        """Undefined names in the function's results. A region op that yields such an extent defines its name."""

    def fresh(self, stem: str) -> str:
        """Returns `stem` if it is unused, else `stem` with a number."""
        if stem not in self._candidates:
            numbered = (f"{stem}{number}" if stem == UNNAMED else f"{stem}_{number + 1}" for number in count())
            self._candidates[stem] = numbered if stem == UNNAMED else chain([stem], numbered)
        name = next(name for name in self._candidates[stem] if name not in self._taken)
        self._taken.add(name)
        return name

    def named(self, type: Attribute) -> Attribute:
        """Returns `type` with a new name for each `?`."""

        def name(dim: DimExpr) -> Dim:
            return symbol(self.fresh(UNNAMED)) if isinstance(dim, AnyDim) else dim

        return with_dims(type, name, by_position=True)

    def of_extents(
        self, op: Operation, extents: Sequence[UnnamedExtent], inferred: Attribute, found: Attribute
    ) -> Mapping[str, str]:
        """Returns a name for each extent that `op` introduces.

        If the written type `found` has a name at the extent's position that no value before `op` has, this name is
        used. For extents that do not occur in the type, the names recorded on `op` are used.
        """
        names = self._names.setdefault(op, {})
        written = {single_name(own): single_name(given) for own, given in dim_pairs(inferred, found)}
        if written.keys().isdisjoint(extent.placeholder for extent in extents):
            written = {each.placeholder: own.name for each, own in zip(extents, new_extents(op), strict=False)}
        for extent in extents:
            if extent.placeholder not in names:
                known = written.get(extent.placeholder)
                self._set(op, extent.placeholder, known if known is not None else self.fresh(extent.hint))
        return names

    def forget(self, op: Operation, placeholder: str) -> None:
        """Removes the name of an extent that `op` no longer introduces."""
        self._makers.pop(self._names[op].pop(placeholder), None)

    def _set(self, op: Operation, key: str, name: str) -> None:
        """Records `name` as that of an extent which `op` introduces."""
        self._names.setdefault(op, {})[key] = name
        self._makers[name] = op

    def unbound(self, names: Sequence[str], place: Operation, type_of: Callable[[SSAValue], Attribute]) -> list[str]:
        """Returns the names in `names` that neither an argument nor an op in a block around `place` binds."""
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
        """Returns whether an op in the regions of `around` introduces the extent `name`."""
        op = self._makers.get(name)
        while op is not None and op is not around:
            op = op.parent_op()
        return op is around and self._makers[name] is not around

    def names_made_by(self, op: Operation) -> Mapping[str, str]:
        """Returns the names of the extents that a call or a region op introduces, keyed by their names inside of it."""
        return self._names.get(op, {})

    def made_by(self, op: Operation) -> list[NewExtent]:
        """Returns the named extents that a call or a region op introduces."""
        return [NewExtent(name) for name in self.names_made_by(op).values()]

    def of_call(
        self,
        call: Operation,
        made: Iterable[str],
        output: Attribute,
        found: Attribute,
        bindings: Mapping[str, Dim] = MappingProxyType({}),
    ) -> dict[str, Dim]:
        """Returns a name here for each extent that a callee or body introduces under a name of its own in `output`.

        Written names are kept: those in `bindings`, those in the type `found` of the result, or else, for instance if
        the result's extent is an expression of the name, those recorded on `call` at the same position.
        """
        names = self._names.setdefault(call, {})
        written = {single_name(inner): single_name(outer) for inner, outer in dim_pairs(output, found)}
        written |= {name: single_name(dim) for name, dim in bindings.items()}
        own, recorded = sorted(made), [extent.name for extent in new_extents(call)]
        if len(own) == len(recorded):
            left = set(recorded) - set(written.values())
            written |= {
                name: old for name, old in zip(own, recorded, strict=True) if name not in written and old in left
            }
        for name in own:
            if name not in names:
                known = written.get(name)
                self._set(call, name, known if known is not None else self.fresh(name.removeprefix("%")))
        return {name: symbol(names[name]) for name in made}

    def of_join(
        self,
        op: Operation,
        lhs: Attribute,
        rhs: Attribute,
        known: Attribute,
        type_of: Callable[[SSAValue], Attribute],
    ) -> Attribute | None:
        """Returns the type of a value that has either of two types: extents that differ get new names.

        Extents of the known type `known` of the result are kept. So are names that `op` has bound, even if the branches
        agree by now, because other types use them. A name that occurs only in the function's results is bound by `op`.
        Returns None if the types differ in more than extents, or functions in more than names of their own.
        """
        names = self._names.setdefault(op, {})
        made = {extent.name for extent in new_extents(op)} | set(names.values()) | self._undefined
        place = count()

        def join(dims: Sequence[Dim]) -> Dim:
            key = str(next(place))
            given = dims[2] if len(dims) == 3 else ANY
            if (name := single_name(given)) is not None and name in made:
                self._set(op, key, name)
                return given
            if dims[0] == dims[1]:
                return dims[0]
            if not isinstance(given, AnyDim):
                return given
            if key not in names:
                self._set(op, key, self.fresh(UNNAMED))
            return symbol(names[key])

        types = [lhs, rhs, known] if is_complete(known) else [lhs, rhs]
        return joined_types(
            types, join, lambda functions: self._same_function(functions, op, type_of), by_position=True
        )

    def _same_function(
        self, types: Sequence[Attribute], place: Operation, type_of: Callable[[SSAValue], Attribute]
    ) -> Attribute | None:
        """Returns the first type if all differ only in names that belong to the functions themselves, else None."""
        first, *others = [type for type in types if ANY not in _dims_of_function(type)] or types
        names = _names_of(_dims_of_function(first))
        for other in others:
            renamed = dict(zip(_names_of(_dims_of_function(other)), names, strict=False))
            changed = [name for pair in renamed.items() if pair[0] != pair[1] for name in pair]
            if set(self.unbound(changed, place, type_of)) != set(changed):
                return None
            symbols = {name: symbol(new) for name, new in renamed.items()}
            if with_dims(other, lambda dim, symbols=symbols: dim.substitute(symbols)) != first:
                return None
        return first


def _dims_of_function(type: Attribute) -> list[DimExpr]:
    """Returns the symbolic extents in the parameters and results of a function type, in order."""
    found: list[DimExpr] = []

    def collect(dim: DimExpr) -> Dim:
        found.append(dim)
        return dim

    with_dims(type, collect)
    return found


def _names_of(dims: Iterable[DimExpr]) -> list[str]:
    return list(dict.fromkeys(name for dim in dims for name in sorted(dim.names)))


def single_name(dim: Dim) -> str | None:
    """Returns the name of a dimension that consists of a single name, else None."""
    atom = single_atom(dim)
    return atom.name if isinstance(atom, Symbol) else None

"""The type of a value that is one of two functions, such as the result of `relay.if`.

Names that a function's parameters bind, or that its body introduces, belong to the function. The joined function
accepts the arguments that both accept: own names are replaced by the other function's extents, so `n -> n` and `5 -> 5`
become `5 -> 5`. Result extents in which the functions then differ are introduced by each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute

from xrelay.dialects.shared.types import dim_pairs, joined_types
from xrelay.index_algebra.dims import AnyDim, Dim, Symbol, names_of, single_atom


@dataclass
class FunctionJoin:
    """Joins function types. `fresh` names an extent that is one of two."""

    is_own: Callable[[str], bool]
    """Whether a name belongs to one of the functions."""
    fresh: Callable[[Dim, Dim], Dim]
    _bindings: dict[str, Dim] = field(default_factory=dict[str, Dim])
    """The values of own names, from the parameters of the other function."""

    def __call__(self, types: Sequence[Attribute]) -> Attribute | None:
        """Returns the common function type of the first two `types`, with all names replaced, or None.

        Extents of a third type, the known type of the value, are kept.
        """
        functions = [type for type in types if isinstance(type, FunctionType)]
        if len(functions) != len(types) or len({(len(each.inputs), len(each.outputs)) for each in functions}) != 1:
            return None
        first, second = functions[:2]
        for one, other in zip(first.inputs, second.inputs, strict=True):
            if not all(self._agree(left, right) for left, right in dim_pairs(one, other)):
                return None
        inputs = [
            joined_types(each, self._joined_parameter, self)
            for each in zip(*(f.inputs.data for f in functions), strict=True)
        ]
        outputs = [
            joined_types(each, self._joined_result, self)
            for each in zip(*(f.outputs.data for f in functions), strict=True)
        ]
        complete = [type for type in (*inputs, *outputs) if type is not None]
        if len(complete) != len(inputs) + len(outputs):
            return None
        return FunctionType.from_lists(complete[: len(inputs)], complete[len(inputs) :])

    def _agree(self, left: Dim, right: Dim) -> bool:
        """Returns whether a parameter may have both extents; binds an own name to the other extent."""
        one, other = self._resolved(left), self._resolved(right)
        for name, dim in ((self._own_name(other), one), (self._own_name(one), other)):
            if one != other and name is not None and not isinstance(dim, AnyDim) and name not in names_of(dim):
                self._bindings[name] = dim
                return True
        return not (isinstance(one, int) and isinstance(other, int)) or one == other

    def _own_name(self, dim: Dim) -> str | None:
        atom = single_atom(dim)
        return atom.name if isinstance(atom, Symbol) and self.is_own(atom.name) else None

    def _resolved(self, dim: Dim) -> Dim:
        """Returns `dim` with bound names replaced."""
        while not isinstance(dim, int) and not self._bindings.keys().isdisjoint(dim.names):
            dim = dim.substitute(self._bindings)
        return dim

    def _joined_parameter(self, dims: Sequence[Dim]) -> Dim:
        if len(dims) > 2 and not isinstance(dims[2], AnyDim):
            return dims[2]
        one, other = map(self._resolved, dims[:2])
        return other if isinstance(other, int) or isinstance(one, AnyDim) else one

    def _joined_result(self, dims: Sequence[Dim]) -> Dim:
        if len(dims) > 2 and not isinstance(dims[2], AnyDim):
            return dims[2]
        one, other = map(self._resolved, dims[:2])
        return one if one == other else self.fresh(one, other)

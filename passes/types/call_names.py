"""What the names of a callee's dimensions stand for at a call, as the types of the arguments tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.types import dim_pairs
from xrelay.index_algebra.dims import AnyDim, Dim, DimExpr, certainly_differ, solved_for


class CallNames:
    """The dimension of the caller for each name of the callee's parameters that is found out.

    A parameter `n` tells at once. One such as `2 * n + 1` tells where all its other names are known; an argument `m`
    makes of it `n = (m - 1) floordiv 2`, which is right where `m` is such a number: who calls requires that. What is
    `written` in `<…>` counts where nothing else tells; what is `fixed` no argument changes.
    """

    def __init__(
        self,
        parameters: Sequence[Attribute],
        arguments: Sequence[Attribute],
        written: Mapping[str, Dim],
        fixed: Mapping[str, Dim] = MappingProxyType({}),
    ):
        self._pairs = [
            (index, general, given)
            for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True))
            for general, given in dim_pairs(parameter, argument)
            if isinstance(general, DimExpr) and not isinstance(general, AnyDim) and not isinstance(given, AnyDim)
        ]
        # Plain names first: what they are is no matter of divisibility.
        self._pairs.sort(key=lambda pair: not str(pair[1]).isidentifier())
        self.bindings: dict[str, Dim] = dict(fixed)
        self._told_by: dict[str, int] = {}
        """The argument by which a name is known."""
        self._solve()
        wanted = {name for _, general, _ in self._pairs for name in general.names}
        self.bindings = {name: dim for name, dim in written.items() if name in wanted} | self.bindings
        self._solve()

    def contradiction(self) -> str | None:
        """Why no sizes make the arguments those of the parameters, with both extents; `None` where some may."""
        for index, general, given in self._pairs:
            if not general.names <= self.bindings.keys():
                continue
            wanted = general.substitute(self.bindings)
            if certainly_differ(wanted, given):
                told = self._told(general)
                return f"argument #{index} has the extent {given}, its parameter {general} = {wanted}{told}"
        return None

    def _solve(self) -> None:
        """Find out names from one another for as long as there is one to be found."""
        found = True
        while found:
            found = False
            for index, general, given in self._pairs:
                unknown = general.names - self.bindings.keys()
                if len(unknown) != 1:
                    continue
                (name,) = unknown
                dim = solved_for(name, general, given, self.bindings)
                if dim is not None:
                    self.bindings[name], self._told_by[name] = dim, index
                    found = True

    def _told(self, general: DimExpr) -> str:
        told = [name for name in sorted(general.names) if name in self._told_by]
        texts = [f"{name} = {self.bindings[name]} by argument #{self._told_by[name]}" for name in told]
        return f" ({', '.join(texts)})" if texts else ""

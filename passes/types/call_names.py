"""Binds the named dimensions of a callee at a call, from the types of the arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import Attribute

from xrelay.dialects.shared.types import dim_pairs
from xrelay.index_algebra.dims import AnyDim, Dim, DimExpr, certainly_differ, solved_for


class CallNames:
    """The caller's dimension for each named dimension of the callee's parameters that can be determined.

    A parameter extent `n` determines n directly. An extent such as `2 * n + 1` determines n if all its other names are
    bound: from an argument extent `m`, `n = (m - 1) floordiv 2`. This holds only for such m; the call requires it.
    `written` bindings, from `<…>`, are used for names that are not determined. `fixed` bindings are never changed.
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
        # Extents that are plain names first, as they need no division.
        self._pairs.sort(key=lambda pair: not str(pair[1]).isidentifier())
        self.bindings: dict[str, Dim] = dict(fixed)
        self._source_argument: dict[str, int] = {}
        """The index of the argument from which a name is determined."""
        self._solve()
        wanted = {name for _, general, _ in self._pairs for name in general.names}
        self.bindings = {name: dim for name, dim in written.items() if name in wanted} | self.bindings
        self._solve()

    def contradiction(self) -> str | None:
        """Returns why the arguments cannot match the parameters for any sizes, with both extents; else None."""
        for index, general, given in self._pairs:
            if not general.names <= self.bindings.keys():
                continue
            wanted = general.substitute(self.bindings)
            if certainly_differ(wanted, given):
                origin = self._origin_text(general)
                return f"argument #{index} has the extent {given}, its parameter {general} = {wanted}{origin}"
        return None

    def _solve(self) -> None:
        """Binds names until no further name can be determined."""
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
                    self.bindings[name], self._source_argument[name] = dim, index
                    found = True

    def _origin_text(self, general: DimExpr) -> str:
        origin = [name for name in sorted(general.names) if name in self._source_argument]
        texts = [f"{name} = {self.bindings[name]} by argument #{self._source_argument[name]}" for name in origin]
        return f" ({', '.join(texts)})" if texts else ""

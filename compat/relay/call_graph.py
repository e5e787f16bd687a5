"""`CallGraph`: the calls between the functions of a module, their numbers, and recursive functions."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError, did_you_mean
from xrelay.passes.graph.calls import callees_first, calls_in, mentioned_symbols
from xrelay.passes.infra.digraph import nodes_on_cycles
from xrelay.relay.nodes import GlobalVar


class CallGraph:
    """The calls between the functions of `module` at construction.

    Functions are given by name or global variable. Raises `InputError` if the module has no such function. `str` lists
    each function with its callees, callers before callees.
    """

    def __init__(self, module: ModuleOp):
        self.module = module
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self._calls = {name: calls_in(function, functions) for name, function in functions.items()}
        self._references = Counter(
            name for function in functions.values() for name in mentioned_symbols(function) if name in functions
        )

    def ref_count(self, var: GlobalVar | str) -> int:
        """Returns the number of references to the function in the module."""
        return self._references[self._name(var)]

    def global_call_count(self, var: GlobalVar | str) -> int:
        """Returns the number of calls of functions of the module in the function."""
        return sum(self._calls[self._name(var)].values())

    def is_recursive(self, var: GlobalVar | str) -> bool:
        """Returns whether the function may call itself, directly or indirectly."""
        return self._name(var) in nodes_on_cycles(self._calls)

    def print_var(self, var: GlobalVar | str) -> str:
        """Returns the function, its number of references and its callees as text."""
        name = self._name(var)
        lines = [f"@{name}: #refs = {self._references[name]}"]
        lines += [f"  calls @{callee}: {count}" for callee, count in self._calls[name].items()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join(self.print_var(name) for name in reversed(callees_first(self._calls)))

    def _name(self, var: GlobalVar | str) -> str:
        name = str(var).removeprefix("@")
        if name not in self._calls:
            hint = did_you_mean(name, self._calls, f"it has {', '.join(self._calls) or 'none'}")
            raise InputError(f"the module has no function @{name}", help=hint)
        return name

"""`ApplyPassToFunction` runs a pass on functions selected by name and leaves the others unchanged."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.errors import PassError
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo, PassTypeError
from xrelay.relay.pass_api.passes import ModulePass, Pass, run_pass
from xrelay.relay.pass_api.set_aside import bodies_hidden


class ApplyPassToFunction(ModulePass):
    """Runs `transform` on the functions whose names begin with a match of the regular expression `func_name_regex`.

    The pass sees all other functions as declarations and the selected functions as public, so that it removes no
    function whose callers it does not see. If no function matches, the module stays unchanged, or, with
    `error_if_no_function_matches_regex`, a `PassError` is raised. Raises `PassTypeError` if `transform` is not a pass,
    and `PassError` for an invalid regular expression.
    """

    names_errors: bool = True

    def __init__(self, transform: object, func_name_regex: str, error_if_no_function_matches_regex: bool = False):
        name = f"ApplyPassTo{func_name_regex}"
        if not isinstance(transform, Pass):
            raise PassTypeError(f"[{name}] {transform!r} is not a pass", help="call the class to create a pass")
        try:
            self._names = re.compile(func_name_regex)
        except (re.error, TypeError) as error:
            raise PassError(f"[{name}] {func_name_regex!r} is not a regular expression: {error}") from error
        super().__init__(PassInfo(0, name))
        self._inner, self._needs_one = transform, error_if_no_function_matches_regex

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Runs the pass on the selected functions."""
        functions = [op for op in mod.body.block.ops if isinstance(op, FuncOp)]
        chosen = {op.sym_name.data: op.sym_visibility for op in functions if self._names.match(op.sym_name.data)}
        if not chosen:
            if self._needs_one:
                names = ", ".join(f"@{op.sym_name.data}" for op in functions)
                raise PassError(f"[{self.info.name}] no function has such a name", help=f"the module has {names}")
            return mod
        hidden = [op for op in functions if op.sym_name.data not in chosen and not op.is_declaration]
        _set_visibility(mod, dict.fromkeys(chosen))
        with bodies_hidden(mod, hidden) as restore:
            made = run_pass(self._inner, mod, ctx)
            restore(made)
        _set_visibility(made, chosen)
        return made


def _set_visibility(module: ModuleOp, wanted: dict[str, StringAttr | None]) -> None:
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and function.sym_name.data in wanted:
            function.sym_visibility = wanted[function.sym_name.data]

"""Passes as objects, as in Relay: each has an `info`, takes a module and returns a new one.

    folded = transform.FoldConstant()(module)

The input module never changes: the pass works on a copy. Input and result are verified, and an error of any kind names
the pass. `xrelay.passes.infra.pass_instrument` documents the hooks and their order.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region

from xrelay.dialects.shared.attribute_names import COMPILER, EXTERN, LOOP_KERNEL, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.errors import PassError, XRelayError
from xrelay.passes.catalogue.relay_names import relay_pass
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.infra.config import IMMUTABLE, VERIFY
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo, PassTypeError, naming, remember_names
from xrelay.passes.infra.pass_instrument import PassInstrument, run_observed
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.instruments.print_ir import write_heading
from xrelay.passes.instruments.verify import Immutability, Verify
from xrelay.passes.types.type_upkeep import TypeUpkeep
from xrelay.relay.function import Function

KERNEL_MARKS = (PRIMITIVE, LOOP_KERNEL)
"""Attributes of kernel functions."""


class Pass(ABC):
    """A pass with its `info`. Subclasses implement `transform`."""

    info: PassInfo
    checks_itself: bool = False
    """Whether the result of `transform` needs no verification."""
    names_errors: bool = False
    """Whether errors of `transform` already contain the name of a pass, that of a member."""
    forgets: bool = False
    """Whether the pass keeps no reference to modules, so that the next pass may rewrite its result in place."""

    def __init__(self, info: PassInfo):
        self.info = info
        remember_names([info.name])

    def __call__(self, mod: ModuleOp) -> ModuleOp:
        """Returns the result of the pass on `mod` in the current context; `mod` does not change.

        Runs at any level of the context. Returns `mod` itself if an instrument prevents the pass from running. Raises
        only subclasses of `XRelayError`; the message names the pass.
        """
        _check_module(mod, self.info)
        ctx = PassContext.current()
        with gc_pause():
            if ctx.get_config(VERIFY, True):
                _verify_input(mod, self.info)
            return run_pass(self, mod, ctx)

    @abstractmethod
    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Returns the new module. The pass owns `mod`, and may rewrite it in place and return it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.info!r})"


def run_pass(current: Pass, mod: ModuleOp, ctx: PassContext, *, owned: bool = False) -> ModuleOp:
    """Returns the result of `current` on `mod` in `ctx`, with all hooks around it.

    With `owned`, no other reference to `mod` exists: it is rewritten in place, unless an instrument or check may keep
    it.
    """
    info = current.info
    checks: list[PassInstrument] = []
    if ctx.get_config(IMMUTABLE, False):
        checks.append(Immutability())
    kept = bool(checks or ctx.instruments)
    if ctx.get_config(VERIFY, True) and not current.checks_itself:
        checks.append(Verify(before=False))
    return run_observed(
        lambda own: _transform(current, own, ctx),
        mod,
        info,
        [*checks, *ctx.instruments],
        required=ctx.requires(info),
        copy=kept or not owned,
    )


def _transform(current: Pass, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    """Returns the result of the pass on its copy; any error names the pass."""
    try:
        result = current.transform(mod, ctx)
    except XRelayError as error:
        if not current.names_errors:
            row = relay_pass(current.info.name)
            naming(error, current.info.name, aliases=(row.pass_name,) if row is not None else ())
        raise
    except Exception as error:
        raise naming(error, current.info.name) from error
    _check_result(result, ModuleOp, "module", current.info)
    return result


def _check_module(mod: object, info: PassInfo) -> None:
    if not isinstance(mod, ModuleOp):
        raise PassTypeError(
            f"[{info.name}] a pass takes a module, found {type(mod).__name__}",
            help="relay.Module.from_expr converts a function or expression to a module",
        )


def _verify_input(mod: ModuleOp, info: PassInfo) -> None:
    try:
        Verify().run_before_pass(mod, info)
    except RecursionError as error:
        raise naming(error, info.name) from error


def _check_result(result: object, wanted: type[object], kind: str, info: PassInfo) -> None:
    if not isinstance(result, wanted):
        raise PassTypeError(
            f"[{info.name}] the return value of a {kind} pass must be set to a {wanted.__name__}, "
            f"found {type(result).__name__}"
        )


class ModulePass(Pass):
    """A pass on the module as a whole."""


class FunctionPass(Pass):
    """A pass on every function of the graph, except kernels, declarations and functions marked to be skipped.

    Afterwards, types are inferred in changed functions.
    """

    @abstractmethod
    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp | Function:
        """Returns the replacement for `func` in `mod`: itself, rewritten in place, or a new function."""

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Transforms every function to which the pass applies."""
        functions = [function for function in functions_of(mod).values() if is_optimizable(function)]
        types = TypeUpkeep(functions)
        types.update(mod, self.replace_all(functions, mod, ctx))
        return mod

    def replace_all(self, functions: Sequence[FuncOp], mod: ModuleOp, ctx: PassContext) -> list[FuncOp]:
        """Transforms `functions`, and replaces them with the new ones once all are done; returns the new ones."""
        made = [self.transform_function(function, mod, ctx) for function in functions]
        found = [each.to_func() if isinstance(each, Function) else each for each in made]
        for old, new in zip(functions, found, strict=True):
            _check_result(new, FuncOp, "function", self.info)
            if new is not old:
                _replace(old, new)
        return found


class KernelPass(FunctionPass):
    """A pass on every kernel, at the topi and the loop level."""

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Transforms every kernel."""
        self.replace_all([function for function in functions_of(mod).values() if is_kernel(function)], mod, ctx)
        return mod


def is_kernel(function: FuncOp) -> bool:
    """Whether `function` is a kernel."""
    return any(mark in function.attributes for mark in KERNEL_MARKS)


def is_optimizable(function: FuncOp) -> bool:
    """Whether function passes apply to `function`."""
    return not is_kernel(function) and not is_skipped(function) and not function.is_declaration


def _replace(old: FuncOp, new: FuncOp) -> None:
    """Replaces `old` with `new`, under the old name."""
    block = old.parent_block()
    if block is None:
        raise PassError(f"the function @{old.sym_name.data} was removed from its module", help="return it instead")
    if new.parent is not None:
        raise PassError(f"@{new.sym_name.data} cannot also replace @{old.sym_name.data}", help="return a clone of it")
    new.sym_name = old.sym_name
    block.insert_op_before(new, old)
    block.erase_op(old)


SKIP_MARKS = (SKIP_OPTIMIZATION, COMPILER, EXTERN)
"""Attributes of functions that function passes skip."""


def is_skipped(function: FuncOp) -> bool:
    """Whether function passes skip `function`."""
    return any(mark in function.attributes for mark in SKIP_MARKS)


@contextmanager
def hide_skipped_functions(module: ModuleOp) -> Generator[None]:
    """Turns the skipped functions of `module` into declarations for the duration of a `with` block."""
    with hide_bodies(module, [op for op in functions_of(module).values() if is_skipped(op) and not op.is_declaration]):
        yield


@contextmanager
def hide_bodies(module: ModuleOp, functions: Sequence[FuncOp]) -> Generator[Callable[[ModuleOp], None]]:
    """Turns `functions` of `module` into declarations for the duration of a `with` block.

    The context value is a function that restores the bodies in another module, which was created from this one. It also
    restores functions that are missing there.
    """
    bodies = {function.sym_name.data: _exchange_body(function, Region()) for function in functions}
    originals = {function.sym_name.data: function.clone() for function in functions}

    def restore(made: ModuleOp) -> None:
        # A pass that restores the module on failure replaces the functions with others.
        found = functions_of(made)
        for name in list(bodies):
            if name not in found:
                made.body.block.add_op(originals[name])
            _exchange_body(found.get(name, originals[name]), bodies.pop(name))

    try:
        yield restore
    finally:
        restore(module)


def _exchange_body(function: FuncOp, body: Region) -> Region:
    """Sets another body on a function; returns the old one."""
    old = function.detach_region(0)
    function.add_region(body)
    return old


# --- passes with other passes, and printing ---------------------------------------------------------------------------


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
        functions = functions_of(mod)
        chosen = {name: op.sym_visibility for name, op in functions.items() if self._names.match(name)}
        if not chosen:
            if self._needs_one:
                names = ", ".join(f"@{name}" for name in functions)
                raise PassError(f"[{self.info.name}] no function has such a name", help=f"the module has {names}")
            return mod
        hidden = [op for name, op in functions.items() if name not in chosen and not op.is_declaration]
        _set_visibility(mod, dict.fromkeys(chosen))
        with hide_bodies(mod, hidden) as restore:
            made = run_pass(self._inner, mod, ctx)
            restore(made)
        _set_visibility(made, chosen)
        return made


def _set_visibility(module: ModuleOp, wanted: dict[str, StringAttr | None]) -> None:
    for name, function in functions_of(module).items():
        if name in wanted:
            function.sym_visibility = wanted[name]


class PrintIRPass(ModulePass):
    """Prints the module under `header`, and returns it."""

    def __init__(self, header: str = "", show_meta_data: bool = False, stream: TextIO | None = None):
        super().__init__(PassInfo(0, "PrintIR", numerics=EXACT))
        self._header, self._generic, self._stream = header, show_meta_data, stream

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Prints the module; with `show_meta_data` in generic form, which shows all attributes."""
        text = print_module(mod, generic=self._generic)
        write_heading(self._stream, f"PrintIR({self._header})" if self._header else "PrintIR", text)
        return mod

"""`Sequential` runs passes in order, `ApplyPassToFunction` on some functions, and `PrintIR` prints the program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.errors import PassError
from xrelay.passes.infra.pass_context import PassContext, PassDecision
from xrelay.passes.infra.pass_info import PassArgumentError, PassInfo, PassTypeError, check_level, check_names
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.instruments.print_ir import write_heading
from xrelay.relay.pass_api.named_passes import create_pass, register_sequence
from xrelay.relay.pass_api.passes import ModulePass, Pass, bodies_hidden, run_pass
from xrelay.target.target import CPU, Target, device_kind


class Sequential(Pass):
    """Runs each of `passes` that the context enables, each after the passes its info requires.

    A member is a pass, or text for `create_pass`. Required passes are created by name without options and always run,
    each time they are required, since nothing is cached; the passes that they require in turn do not run. A
    `Sequential` is a pass and may be a member of another one, which enables or disables it as a whole by its own
    `opt_level`, 0 by default.

    Raises `PassTypeError` for members that are not passes, and `PassError` for a required pass that does not exist.
    """

    checks_itself: bool = True
    names_errors: bool = True
    passes: tuple[Pass, ...]

    def __init__(
        self,
        passes: Sequence[Pass | str] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] | None = None,
        traceable: bool = False,
    ):
        if passes is not None and not isinstance(passes, list | tuple):
            raise PassTypeError(f"[{name}] passes must be a list of Pass objects, found {type(passes).__name__}")
        self.passes = tuple(_member(item, name) for item in cast("Sequence[object]", passes if passes else ()))
        self.forgets = all(member.forgets for member in self.passes)
        super().__init__(PassInfo(check_level(opt_level, name), name, check_names(required, "Required"), traceable))

    def decisions(self, ctx: PassContext | None = None) -> list[tuple[PassInfo, PassDecision]]:
        """Returns for every member whether `ctx`, by default the current context, runs it, and why."""
        current = PassContext.current() if ctx is None else ctx
        return [(member.info, current.decide(member.info)) for member in self.passes]

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Runs the members."""
        owned = True
        for member in self.passes:
            if ctx.pass_enabled(member.info):
                for current in (*(_required(name, member) for name in member.info.required), member):
                    mod = run_pass(current, mod, ctx, owned=owned)
                    owned = current.forgets
        return mod


def _member(item: object, name: str) -> Pass:
    if isinstance(item, str):
        return create_pass(item)
    if not isinstance(item, Pass):
        raise PassTypeError(f"[{name}] {item!r} is not a pass", help="call the class to create a pass")
    return item


def _required(name: str, member: Pass) -> Pass:
    """Returns a pass that `member` requires."""
    try:
        return create_pass(name)
    except PassError as error:
        raise PassError(
            f"[{member.info.name}] cannot use {name!r}, which it requires, to create the pass: {error.message}",
            help=error.help,
        ) from error


def fold_scale_axis() -> Sequential:
    """Returns Relay's FoldScaleAxis: backward, forward, then the folding of the remaining constants."""
    return Sequential(["BackwardFoldScaleAxis", "ForwardFoldScaleAxis", "FoldConstant"], name="FoldScaleAxis")


register_sequence("FoldScaleAxis", fold_scale_axis)


def batching_ops() -> Sequential:
    """Returns Relay's BatchingOps, which combines parallel convolutions, dense layers and matrix products."""
    members = ["CombineParallelConv2D", "CombineParallelDense", "CombineParallelBatchMatmul"]
    return Sequential(members, name="BatchingOps")


register_sequence("BatchingOps", batching_ops)


def eta_expand(*, expand_constructor: bool = False, expand_global_var: bool = False) -> Sequential:
    """Returns Relay's EtaExpand, which makes closures of functions and constructors used as values; no passes here.

    A function of the module is a value here only as the closure that the builder makes of a `relay.GlobalVar`, and
    there are no constructors, so a module is always expanded, with any options.
    """
    del expand_constructor, expand_global_var
    return Sequential([], opt_level=1, name="EtaExpand")


register_sequence("EtaExpand", eta_expand)


def plan_devices(config: object = None) -> Sequential:
    """Returns Relay's PlanDevices, which selects the device of each expression; no passes here, with one device.

    `config` is the target of the compilation, if the caller has one. Raises `PassArgumentError` for a device other than
    a CPU, and `PassTypeError` for an object that is not a target.
    """
    if not isinstance(config, Target | str | None):
        raise PassTypeError(f"[PlanDevices] {config!r} is not a target", help="pass a Target, or a target's text")
    if isinstance(config, str) and device_kind(config) != CPU:
        raise PassArgumentError(f"[PlanDevices] target {config!r} is not a CPU", help=f"write {CPU!r}, or omit it")
    return Sequential([], name="PlanDevices")


register_sequence("PlanDevices", plan_devices)


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

"""`Sequential` runs passes one after another, those that the context enables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError
from xrelay.passes.infra.pass_context import PassContext, PassDecision
from xrelay.passes.infra.pass_info import PassArgumentError, PassInfo, PassTypeError, check_level, check_names
from xrelay.passes.relay_api.named_passes import create_pass, register_sequence
from xrelay.passes.relay_api.passes import Pass, run_pass
from xrelay.target.device import CPU, device_kind
from xrelay.target.scope import TargetScope


class Sequential(Pass):
    """Runs each of `passes` that the context enables, each after the passes its info requires.

    A member is a pass or text that `create_pass` reads. Required passes are made by name without options and always
    run, but those that they require themselves do not; nothing is remembered, so they run every time. A `Sequential` is
    a pass and may stand in another; with its own `opt_level`, 0 unless given, it is filtered there as a whole.

    Raises `PassTypeError` for members that are no passes, and `PassError` for a required pass that does not exist.
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
        """Returns every member with whether the context (the current one by default) runs it, and why; nothing runs."""
        current = PassContext.current() if ctx is None else ctx
        return [(member.info, current.decide(member.info)) for member in self.passes]

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Run the members."""
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
        raise PassTypeError(f"[{name}] {item!r} is no pass", help="a class of passes must be called to make one")
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
    """Relay's FoldScaleAxis: backward, forward, then the constants that this left."""
    return Sequential(["BackwardFoldScaleAxis", "ForwardFoldScaleAxis", "FoldConstant"], name="FoldScaleAxis")


register_sequence("FoldScaleAxis", fold_scale_axis)


def batching_ops() -> Sequential:
    """Relay's BatchingOps: what joins convolutions, dense layers and products of matrices that stand side by side."""
    members = ["CombineParallelConv2D", "CombineParallelDense", "CombineParallelBatchMatmul"]
    return Sequential(members, name="BatchingOps")


register_sequence("BatchingOps", batching_ops)


def eta_expand(*, expand_constructor: bool = False, expand_global_var: bool = False) -> Sequential:
    """Relay's EtaExpand, which makes closures of functions and constructors that are values: no pass is left to run.

    A function of the module is a value here only as the closure that the builder makes of a `relay.GlobalVar`, and
    there are no constructors, so a module is expanded whatever the options say.
    """
    del expand_constructor, expand_global_var
    return Sequential([], opt_level=1, name="EtaExpand")


register_sequence("EtaExpand", eta_expand)


def plan_devices(config: object = None) -> Sequential:
    """Relay's PlanDevices, which chooses the device of each expression: there is one, so no pass is left to run.

    `config` is the target of the compilation, where the caller has one. Raises `PassArgumentError` for another kind of
    device than a CPU, and `PassTypeError` for what is no target.
    """
    if not isinstance(config, TargetScope | str | None):
        raise PassTypeError(f"[PlanDevices] {config!r} is no target", help="give a Target, or a target's text")
    if isinstance(config, str) and device_kind(config) != CPU:
        raise PassArgumentError(f"[PlanDevices] target {config!r} is no CPU", help=f"write {CPU!r}, or leave it out")
    return Sequential([], name="PlanDevices")


register_sequence("PlanDevices", plan_devices)

"""The entered `PassContext` of a compilation: its level, the graph passes that it selects, and its instruments."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as integer
from typing import SupportsIndex, cast

from xdsl.passes import ModulePass

from xrelay.errors import InputError
from xrelay.lowering.pipelines import MAX_OPT_LEVEL, Phase, Stage
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.context_options import configured
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_instrument import PassInstrument


def chosen_level(opt_level: int | None) -> int:
    """The level asked for, else that of the entered context (Relay's 4 is our 3), else the greatest."""
    if opt_level is not None:
        return checked_integer("opt_level", opt_level)
    context = PassContext.entered()
    return MAX_OPT_LEVEL if context is None else min(context.opt_level, MAX_OPT_LEVEL)


def checked_integer(option: str, value: object) -> int:
    """The value of an integer option; `InputError` for anything else."""
    try:
        return integer(cast(SupportsIndex, value))
    except TypeError as error:
        raise InputError(f"{option} is {value!r}, not an integer") from error


def decide(pass_name: str) -> bool | None:
    """Whether the entered context names a pass of the optimiser as one that runs or not; disabled wins."""
    context = PassContext.entered()
    name = canonical(pass_name)
    if context is None or name not in context.disabled_pass | context.required_pass:
        return None
    return name not in context.disabled_pass


def with_context(passes: Sequence[ModulePass]) -> list[ModulePass]:
    """The passes with the options that the entered context's config gives them."""
    context = PassContext.entered()
    return list(passes) if context is None else [configured(p, context, use_level=False) for p in passes]


def context_instruments() -> list[PassInstrument]:
    """The instruments of the entered context, for every pass of the compilation."""
    context = PassContext.entered()
    return [] if context is None else list(context.instruments)


def required_passes(stage: Stage, passes: Sequence[ModulePass]) -> frozenset[str]:
    """The passes of a stage that no instrument may forbid: those that the context requires, and all that lower.

    An instrument decides by `should_run` about the passes of the graph optimiser, and of other packages, alone; without
    any other pass there would be no code.
    """
    if stage.phase is not Phase.OPTIMIZED:
        added = registered_passes()
        return frozenset(canonical(current.name) for current in passes if current.name not in added)
    context = PassContext.entered()
    return frozenset() if context is None else context.required_pass


def shapes_compilation() -> bool:
    """Whether the entered context changes or watches what is compiled, so that no model of the cache will do."""
    context = PassContext.entered()
    return context is not None and bool(
        context.instruments or context.config or context.disabled_pass or context.required_pass
    )

"""The entered `PassContext` of a compilation: the graph passes that it selects, their options and its instruments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.passes import ModulePass

from xrelay.lowering.pipelines import OPTIMIZER, Stage
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.pass_context import PassContext, configured
from xrelay.passes.infra.pass_instrument import PassInstrument

INTEGER_PASSES: frozenset[str] = frozenset({"FakeQuantizationToInteger"})
"""The passes that `compile(…, integers=True)` requires."""


def decide(pass_name: str, *, asked: frozenset[str] = frozenset()) -> bool | None:
    """Whether the entered context or `asked` enables a graph pass; `None` if neither names it. Disabling wins."""
    context = PassContext.entered()
    name = canonical(pass_name)
    disabled = frozenset[str]() if context is None else context.disabled_pass
    required = asked if context is None else asked | context.required_pass
    return name not in disabled if name in disabled | required else None


def with_context(passes: Sequence[ModulePass]) -> list[ModulePass]:
    """Returns the passes with the options in the config of the entered context."""
    context = PassContext.entered()
    return list(passes) if context is None else [configured(p, context, use_level=False) for p in passes]


def context_instruments() -> list[PassInstrument]:
    """Returns the instruments of the entered context, which observe every pass of the compilation."""
    context = PassContext.entered()
    return [] if context is None else list(context.instruments)


def required_passes(stage: Stage, passes: Sequence[ModulePass]) -> frozenset[str]:
    """Returns the passes of a stage that no instrument may skip: those that the context requires, and all lowerings.

    `should_run` of an instrument applies only to passes of the graph optimiser and of other packages; all other passes
    are needed to produce code.
    """
    if stage.phase not in OPTIMIZER:
        added = registered_passes()
        return frozenset(canonical(current.name) for current in passes if current.name not in added)
    context = PassContext.entered()
    return frozenset() if context is None else context.required_pass

"""The entered `PassContext` of a compilation: the graph passes that it selects, their options, its instruments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.passes import ModulePass

from xrelay.lowering.pipelines import Phase, Stage
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.context_options import configured
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_instrument import PassInstrument

INTEGER_PASSES: frozenset[str] = frozenset({"FakeQuantizationToInteger"})
"""The passes that `compile(…, integers=True)` asks for."""


def decide(pass_name: str, *, asked: frozenset[str] = frozenset()) -> bool | None:
    """Whether the entered context, or `asked`, names a pass of the optimiser as one that runs or not; disabled wins."""
    context = PassContext.entered()
    name = canonical(pass_name)
    disabled = frozenset[str]() if context is None else context.disabled_pass
    required = asked if context is None else asked | context.required_pass
    return name not in disabled if name in disabled | required else None


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

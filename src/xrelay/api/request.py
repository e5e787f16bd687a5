"""What a caller asks of a compilation: target and level, from arguments or what is entered around the call."""

from __future__ import annotations

from dataclasses import replace

from xrelay.arguments import MAX_OPT_LEVEL, checked_integer
from xrelay.errors import InputError, with_article
from xrelay.passes.infra.entered_contexts import innermost_context
from xrelay.runtime.cores import check_num_threads
from xrelay.target.target import Target


def chosen_target(target: object, threads: object) -> Target:
    """The target that a caller names, with as many threads as a call may use; checked, since anything may come."""
    if isinstance(target, str):
        chosen = Target.parse(target)
    elif target is None or isinstance(target, Target):
        entered = Target.current()
        chosen = target if target is not None else entered if entered is not None else Target.host()
    else:
        raise InputError(
            f"{with_article(type(target).__name__)} is no target", help="give a Target, or text such as 'cpu'"
        )
    if threads is None:
        return chosen
    return replace(chosen, threads=check_num_threads(threads))


def chosen_level(opt_level: int | None) -> int:
    """The level asked for, else that of the entered context (Relay's 4 is our 3), else the greatest."""
    if opt_level is not None:
        return checked_integer("opt_level", opt_level)
    context = innermost_context()
    return MAX_OPT_LEVEL if context is None else min(context.opt_level, MAX_OPT_LEVEL)


def shapes_compilation() -> bool:
    """Whether the entered context changes or watches what is compiled, so that no model of the cache will do."""
    context = innermost_context()
    return context is not None and bool(
        context.instruments or context.config or context.disabled_pass or context.required_pass
    )

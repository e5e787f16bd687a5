"""Target and level of a compilation, from arguments or from the entered contexts."""

from __future__ import annotations

from dataclasses import replace

from xrelay.arguments import MAX_OPT_LEVEL, checked_integer
from xrelay.errors import InputError, with_article
from xrelay.passes.infra.entered_contexts import innermost_context
from xrelay.runtime.cores import check_num_threads
from xrelay.target.target import Target


def chosen_target(target: object, threads: object) -> Target:
    """Returns the target of a compilation with its maximum number of threads. Both arguments are checked.

    The number is rounded up to a power of two: schedules depend little on it, and a model for fewer threads need not be
    compiled again. One thread is apart, since its code has no parallel loops.
    """
    if isinstance(target, str):
        chosen = Target.parse(target)
    elif target is None or isinstance(target, Target):
        entered = Target.current()
        chosen = target if target is not None else entered if entered is not None else Target.host()
    else:
        raise InputError(
            f"{with_article(type(target).__name__)} is not a target", help="pass a Target or a string such as 'cpu'"
        )
    number = chosen.threads if threads is None else check_num_threads(threads)
    return replace(chosen, threads=1 << (number - 1).bit_length())


def chosen_level(opt_level: int | None) -> int:
    """Returns the level of the argument, else of the entered context (Relay's 4 is level 3 here), else the highest."""
    if opt_level is not None:
        return checked_integer("opt_level", opt_level)
    context = innermost_context()
    return MAX_OPT_LEVEL if context is None else min(context.opt_level, MAX_OPT_LEVEL)


def shapes_compilation() -> bool:
    """Whether the entered context changes or observes the compilation, so that no cached model may be used."""
    context = innermost_context()
    return context is not None and bool(
        context.instruments or context.config or context.disabled_pass or context.required_pass
    )

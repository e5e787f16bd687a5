"""The pass names that a context accepts: Relay's, the passes' own, those of users, and those of other tables."""

from __future__ import annotations

from collections.abc import Iterable

from xrelay.errors import did_you_mean
from xrelay.passes.catalogue.relay_names import ELSEWHERE, ROWS, canonical
from xrelay.passes.infra.pass_info import PassArgumentError

_OTHER_NAMES: set[str] = set()


def remember_names(names: Iterable[str]) -> None:
    """Adds pass names for `check_known`: those of users' passes, and of other tables."""
    _OTHER_NAMES.update(names)


def known_names() -> list[str]:
    """Returns every pass name that a context accepts."""
    return [*ROWS, *sorted(_OTHER_NAMES), *sorted(ELSEWHERE - ROWS.keys())]


def check_known(names: Iterable[str], what: str) -> frozenset[str]:
    """Returns `names` in canonical form; raises `PassArgumentError`, with the closest name, for an unknown one."""
    found: set[str] = set()
    for name in names:
        if name not in ROWS and name not in _OTHER_NAMES and name not in ELSEWHERE:
            hint = did_you_mean(name, known_names(), "make the pass before the context that names it")
            raise PassArgumentError(f"{what}: no pass is called {name!r}", help=hint)
        found.add(canonical(name))
    return frozenset(found)

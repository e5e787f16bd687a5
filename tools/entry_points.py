"""The commands that pip installs. Ctrl-C ends them with exit code 130, also while their modules are imported."""

from __future__ import annotations

INTERRUPTED = 130


def xrelay() -> int:
    """Runs `xrelay`; returns the exit code."""
    try:
        from xrelay.tools.xrelay_cli import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED


def xrelay_opt() -> int:
    """Runs `xrelay-opt`; returns the exit code."""
    try:
        from xrelay.tools.xrelay_opt import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED

"""`xrelay-opt`: runs passes on the text of any level. xDSL's `xdsl-opt` with the gaps for daily use closed.

stdout carries the resulting program alone; everything else goes to stderr. Exit codes: 0 fine, 1 the program is wrong
or a pass failed, 130 interrupted, 2 the command line is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from xrelay.passes.infra.gc_pause import gc_pause


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool on the command line's arguments, or on `args`; gives the exit code."""
    with gc_pause():
        from xrelay.passes.infra.source import one_line
        from xrelay.tools.opt.driver import XRelayOptMain

    try:
        tool = XRelayOptMain(args=args)
    except Exception as error:
        # Setting up asks every installed package for what it announces to xDSL.
        message = one_line(str(error))
        sys.stderr.write(f"error: a plugin of xDSL cannot be loaded, {type(error).__name__}: {message}\n")
        return 1
    return tool.execute()


if __name__ == "__main__":
    sys.exit(main())

"""`xrelay-opt`: runs passes on the text of any level. It extends xDSL's `xdsl-opt`.

The resulting program is written to stdout, everything else to stderr. Exit codes: 0 success, 1 the program is invalid
or a pass failed, 130 interrupted, 2 the command line is invalid.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from xrelay.passes.infra.gc_pause import gc_pause


def main(args: Sequence[str] | None = None) -> int:
    """Runs the tool on the command line or `args`; returns the exit code."""
    with gc_pause():
        from xrelay.passes.infra.source import one_line
        from xrelay.tools.command_line import escape_unencodable
        from xrelay.tools.opt.driver import XRelayOptMain, restored_classes

    escape_unencodable()
    with restored_classes():
        try:
            tool = XRelayOptMain(args=args)
        except Exception as error:
            # The constructor loads the xDSL plugins of every installed package.
            message = one_line(str(error))
            sys.stderr.write(f"error: a plugin of xDSL cannot be loaded, {type(error).__name__}: {message}\n")
            return 1
        return tool.execute()


if __name__ == "__main__":
    sys.exit(main())

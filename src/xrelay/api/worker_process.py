"""A process that compiles kernels for another one, which it talks to through its standard input and output.

It ends with its input, so that it does not outlive who started it.
"""

from __future__ import annotations

import os
import signal

from xrelay.passes.infra.gc_pause import gc_pause


def main() -> None:
    """Serves standard input; what code of plugins prints does not get into the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        silence = os.open(os.devnull, os.O_RDWR)
        os.dup2(silence, 0)
        os.dup2(silence, 1)
        with gc_pause():
            from xrelay.api.kernel_worker import serve

            serve(requests, answers)


if __name__ == "__main__":
    main()

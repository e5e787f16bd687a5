"""A process that compiles kernels for another one, which it talks to through its standard input and output.

It ends with its input, so that it does not outlive who started it.
"""

from __future__ import annotations

import gc
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
        gc.disable()
        from xrelay.api.kernel_worker import begin, serve

        worker = begin(requests, answers)
        # The compiler is there to stay: nobody has to search it for what can go.
        gc.freeze()
        gc.enable()
        if worker is not None:
            with gc_pause():
                serve(worker, requests, answers)


if __name__ == "__main__":
    main()

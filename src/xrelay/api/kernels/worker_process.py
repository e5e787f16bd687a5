"""A process that compiles kernels for another process, through its standard input and output.

It ends at the end of its input, so it does not outlive its parent.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO

from xrelay.passes.infra.gc_pause import gc_pause


@contextmanager
def worker_streams() -> Generator[tuple[IO[bytes], IO[bytes]]]:
    """Yields the streams of requests and of answers, the standard input and output of this process.

    Nothing else reads or writes them: output of plugins is discarded. Ctrl-C ends the parent, and so the input.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        silence = os.open(os.devnull, os.O_RDWR)
        os.dup2(silence, 0)
        os.dup2(silence, 1)
        yield requests, answers


def main() -> None:
    """Serves standard input."""
    with worker_streams() as (requests, answers):
        gc.disable()
        from xrelay.api.kernels.worker import begin, serve

        worker = begin(requests, answers)
        # The compiler's objects live as long as the process, so garbage collection need not visit them.
        gc.freeze()
        gc.enable()
        if worker is not None:
            with gc_pause():
                serve(worker.lower, requests, answers)


if __name__ == "__main__":
    main()

"""A progress bar on a terminal; no output elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from xrelay.errors import printable


@contextmanager
def progress_bar(title: str) -> Generator[Callable[[int, int, str], None] | None]:
    """Yields a callback `(done, total, step)` that draws on stderr, or `None` if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[step]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, step="")

        def update(done: int, total: int, step: str) -> None:
            bar.update(task, completed=done, total=total, step=printable(step))

        yield update

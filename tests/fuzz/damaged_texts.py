"""Damages the texts of the text tests by changes of bytes and tokens."""

from __future__ import annotations

import random
from functools import cache

from fuzz.finding import Finding
from fuzz.mlir_texts import Finding as TextFinding
from fuzz.mlir_texts import check_text, corpus, mutate


@cache
def texts() -> list[str]:
    """The undamaged texts."""
    return corpus()


def run_case(seed: int) -> None:
    """Checks some damaged texts."""
    rng = random.Random(seed)
    for _ in range(20):
        text = mutate(rng, rng.choice(texts()))
        try:
            check_text(text)
        except TextFinding as error:
            raise Finding("text", str(error), {"text.mlir": text.encode()}) from error

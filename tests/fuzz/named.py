"""Random programs with named dimensions: compares native code with the interpreter at several sizes."""

from __future__ import annotations

from support.choices import Seeded
from support.named_programs import check_program

from fuzz.finding import Finding


def run_case(seed: int) -> None:
    """Runs one program; the message of a finding contains its text."""
    try:
        check_program(Seeded(seed))
    except AssertionError as error:
        place, _, program = str(error).partition("func.func")
        files = {"program.mlir": f"func.func{program}".encode()}
        raise Finding("native code departs from the interpreter", " ".join(place.split()), files) from error

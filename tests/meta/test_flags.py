"""Every flag of every tool is used by a lit test, so that no broken flag goes unnoticed."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path

from xrelay.tools.commands import all_commands
from xrelay.tools.opt.arguments import add_arguments

TESTS = Path(__file__).parents[1] / "lit" / "tools"
ALSO_COVERED = {"-h", "--help"}


def flags_of(parser: ArgumentParser) -> set[str]:
    """Returns the flags that `--help` shows."""
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", parser.format_usage())) - ALSO_COVERED


def all_flags() -> list[tuple[str, str]]:
    opt = ArgumentParser(prog="xrelay-opt")
    add_arguments(opt, "")
    found = [("xrelay-opt", flag) for flag in sorted(flags_of(opt))]
    for command in all_commands():
        parser = ArgumentParser(prog="tool")
        command.add_arguments(parser)
        found += [(f"xrelay {command.name}", flag) for flag in sorted(flags_of(parser))]
    return found


def run_lines() -> list[str]:
    lines: list[str] = []
    for path in sorted(TESTS.iterdir()):
        if path.suffix in (".mlir", ".test"):
            lines += [line for line in path.read_text().splitlines() if "RUN:" in line]
    return lines


def test_flags_are_used_in_lit_tests() -> None:
    lines, unused = "\n".join(run_lines()), all_flags()
    used = [each for each in unused if re.search(rf"{each[0]}(?![\w-]).*\s{re.escape(each[1])}(?![\w-])", lines)]
    assert [each for each in unused if each not in used] == []

"""Counts the Python tokens and files of each room of the repository.

    python -m meta.size_report [--base COMMIT] [--depth N]      (from tests/)

A room is a folder, down to `--depth` levels; deeper files count for the room that contains them. Tokens are those of
`tokenize` without comments, docstrings, newlines and indentation. The last rows are the sums of the sources (all but
`tests/` and `benchmarks/`) and of the tests. The files of the working tree are those that git tracks or could track;
those of a commit are read from git, without a checkout. Symbolic links are skipped, as their targets are counted.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("tests", "benchmarks")
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
END_OF_LINE = {tokenize.NEWLINE, tokenize.ENDMARKER}
SYMBOLIC_LINK = "120000"


@dataclass
class Size:
    """A number of files and the number of their tokens."""

    files: int = 0
    tokens: int = 0

    def add(self, other: Size) -> None:
        """Adds the numbers of `other` to these."""
        self.files += other.files
        self.tokens += other.tokens


def count_tokens(source: bytes) -> int:
    """Returns the number of tokens of a file, without layout, comments and docstrings."""
    total, line = 0, list[int]()
    for kind in _kinds(source):
        if kind in END_OF_LINE:
            total += len(line) if line != [tokenize.STRING] else 0
            line = []
        elif kind not in LAYOUT:
            line.append(kind)
    return total


def _kinds(source: bytes) -> Iterator[int]:
    """Yields the kinds of the tokens of a file; an f-string is one token, as before Python 3.12."""
    depth = 0
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        name = tokenize.tok_name[token.type]
        if depth == 0:
            yield tokenize.STRING if name == "FSTRING_START" else token.type
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")


def working_tree(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the paths and contents of the Python files of the working tree."""
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py").decode()
    for path in sorted(set(filter(None, listed.split("\0")))):
        file = root / path
        if file.is_file() and not file.is_symlink():
            yield path, file.read_bytes()


def commit(root: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yields the paths and contents of the Python files of a commit."""
    entries = [entry.split("\t", 1) for entry in _git(root, "ls-tree", "-r", "-z", name).decode().split("\0") if entry]
    found = [(path, facts.split()) for facts, path in entries if path.endswith(".py")]
    found = [(path, blob) for path, (mode, _, blob) in found if mode != SYMBOLIC_LINK]
    contents = io.BytesIO(_git(root, "cat-file", "--batch", stdin="".join(f"{blob}\n" for _, blob in found)))
    for path, _ in found:
        length = int(contents.readline().split()[-1])
        yield path, contents.read(length)
        contents.read(1)


def _git(root: Path, *arguments: str, stdin: str = "") -> bytes:
    """Returns the standard output of a git command."""
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, input=stdin.encode(), capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"size_report: {done.stderr.decode().strip()}")
    return done.stdout


def room_of(path: str, depth: int) -> str:
    """Returns the first `depth` folders of a path."""
    return "/".join(PurePosixPath(path).parent.parts[:depth]) or "."


def rooms(files: Iterable[tuple[str, bytes]], depth: int) -> dict[str, Size]:
    """Returns the size of each room, and of the sums `sources` and `tests`."""
    found: defaultdict[str, Size] = defaultdict(Size)
    sums = {"sources": Size(), "tests": Size()}
    for path, source in files:
        size = Size(1, count_tokens(source))
        found[room_of(path, depth)].add(size)
        sums["tests" if path.split("/")[0] in TESTS else "sources"].add(size)
    return dict(sorted(found.items())) | {f"sum of {name}": size for name, size in sums.items()}


def table(now: dict[str, Size], base: dict[str, Size] | None) -> str:
    """Returns the report: a row per room; with a base, also its numbers and the difference in tokens."""
    names = [*now, *(name for name in base or {} if name not in now)]
    names.sort(key=lambda name: (name.startswith("sum of "), name))
    rows = [["room", "files", "tokens", *(("files before", "tokens before", "change") if base is not None else ())]]
    for name in names:
        size = now.get(name, Size())
        row = [name, f"{size.files}", f"{size.tokens}"]
        if base is not None:
            old = base.get(name, Size())
            row += [f"{old.files}", f"{old.tokens}", f"{size.tokens - old.tokens:+}"]
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows]
    return "".join("  ".join(line) + "\n" for line in lines)


def main() -> None:
    """Prints the report."""
    parser = argparse.ArgumentParser(
        prog="size_report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", metavar="COMMIT", help="a commit whose numbers are printed beside")
    parser.add_argument("--depth", type=int, default=2, help="levels of folders that are rooms (2)")
    args = parser.parse_args()
    base = rooms(commit(ROOT, args.base), args.depth) if args.base is not None else None
    sys.stdout.write(table(rooms(working_tree(ROOT), args.depth), base))


if __name__ == "__main__":
    main()

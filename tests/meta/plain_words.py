"""Lists sentences that are hard to read: vague subjects and verbs of speech in docstrings, comments and messages.

    python -m meta.plain_words [PATH...]        prints each flagged sentence as FILE:LINE: [rules] sentence
    python -m meta.plain_words --count PATH...  prints how many sentences are flagged

Both are run from tests/.
The rules are heuristics. A flagged sentence may be plain and may stay, but a page with many of them is not plain.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

RULES = {
    # Write the noun: "the operands that …" in place of "what …".
    "what": (
        r"(?:^|[.:;,(] |\b(?:and|or|but|of|by|with|to|for|from|in|on|at|that|is|are|as|than) )"
        r"what (?!is new|to do|if\b|this\b|happens)"
    ),
    # Repeat the noun.
    "one": (
        r"\b(?:that is|is|are|where there (?:is|are)|of|for|one of) none\b"
        r"|\bone that\b|\bof which\b|\bsuch (?:a )?ones?\b"
    ),
    # Code does not talk or know: specifies, stores, is given by, is required.
    "person": (
        r"\bnobody\b|\bno one\b|\bminds?\b|\btold\b|\btells?\b"
        r"|\b(?:is|are) said\b|\bto say\b|\basked for\b|\bknows? of\b"
    ),
    # Specifies, states, is an attribute of.
    "says": r"\b(?:says?|said)\b (?!\")",
    # Is, is in, precedes, follows.
    "stands": r"\bstands?\b(?! (?:alone|for))",
    # Returns, yields, produces.
    "gives": r"\bgives? (?:the|a|an|its|no|nothing|one|none|those|what)\b",
    # Replaces.
    "place": r"\b(?:in the|takes? (?:the|its|their)) places? of\b|\bin its place\b|\bthere and back\b",
    # After, before.
    "behind": r"\bbehind (?:it|the|that|which|them|an?)\b|\bin front of\b",
    # If, when.
    "where": r"\bwhere (?:it|they|there|that|one|none|some) (?:is|are|has|have|do|does|can|may)\b",
}
BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields of statements, of handlers of exceptions and of cases that contain statements."""
STRING_OR_COMMENT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"""|'{3}(?:[^'\\]|\\.|'(?!'{2}))*+'{3}'''
    r"""|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|(?P<comment>#[^\n]*)""",
    re.DOTALL,
)
"""A string, which may contain `#`, or a comment."""
COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES.items()}


class Sentence(NamedTuple):
    """A sentence, its place and the rules that flag it."""

    path: Path
    line: int
    text: str
    rules: tuple[str, ...]


def split_sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text without its code blocks."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    for part in re.split(r"\n\s*\n|\n\s*[-*] ", text):
        yield from (found for found in re.split(r"(?<=[.!?]) (?=[A-Z`])", " ".join(part.split())) if found)


def page_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each paragraph of a page; code blocks, tables and headings are left out."""
    source = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), source, flags=re.DOTALL)
    line = 1
    for block in re.split(r"(\n\s*\n)", source):
        if block.strip() and not block.lstrip().startswith(("|", "#")):
            yield line, block
        line += block.count("\n")


def code_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yields line and text of each docstring, comment and message of an exception in a Python file."""
    for node in statements(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as text)):
                yield node.lineno, text
            case ast.Raise(exc=ast.expr() as raised):
                for part in ast.walk(raised):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
                        yield part.lineno, part.value
            case _:
                pass
    line, position = 1, 0
    for found in STRING_OR_COMMENT.finditer(source):
        if found["comment"] and not found["comment"].startswith("#!"):
            line += source.count("\n", position, found.start())
            position = found.start()
            yield line, found["comment"].lstrip("# ")


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields the statements of a syntax tree at any depth, without a walk through their expressions."""
    for name in BLOCKS:
        for node in getattr(tree, name, ()):
            yield node
            yield from statements(node)


def sentences(path: Path) -> Iterator[Sentence]:
    """Yields every sentence of a Python file or a page."""
    source = path.read_text(encoding="utf-8")
    for line, text in page_texts(source) if path.suffix == ".md" else code_texts(source):
        for sentence in split_sentences(text):
            rules = tuple(name for name, pattern in COMPILED.items() if pattern.search(sentence))
            yield Sentence(path, line, sentence, rules)


def files_under(root: Path) -> list[Path]:
    """Returns the Python files and pages at or under a path, without links, hidden folders and builds."""
    if root.is_file():
        return [root]
    found: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("build", "programs")]
        found += [Path(folder, name) for name in names if name.endswith((".py", ".md")) and not name.startswith(".")]
    return sorted(path for path in found if not path.is_symlink())


def main() -> int:
    """Prints the flagged sentences; returns 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=[Path()])
    parser.add_argument("--count", action="store_true", help="print numbers only")
    options = parser.parse_args()
    found = [each for path in options.paths for file in files_under(path) for each in sentences(file)]
    flagged = [each for each in found if each.rules]
    if options.count:
        share = 100 * len(flagged) / max(len(found), 1)
        sys.stdout.write(f"{len(flagged)} of {len(found)} sentences flagged, {share:.1f} %\n")
    else:
        lines = (f"{each.path}:{each.line}: [{', '.join(each.rules)}] {each.text[:160]}\n" for each in flagged)
        sys.stdout.writelines(lines)
    return int(bool(flagged))


if __name__ == "__main__":
    sys.exit(main())

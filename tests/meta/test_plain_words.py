"""At most one sentence in a hundred of a room is flagged by `meta.plain_words`."""

from __future__ import annotations

from pathlib import Path

import pytest
from meta.plain_words import files_under, sentences, split_sentences

ROOT = Path(__file__).parents[2]
PER_MILLE = 10
"""The number of flagged sentences in a thousand that a room may have."""


def rooms() -> list[str]:
    """Returns the folders of one or two levels that contain files of their own, and the pages at the top."""
    tops = ("index_algebra", "target", "runtime", "benchmarks", "docs", "examples")
    deep = ("dialects", "interpreters", "passes", "lowering", "frontend", "tools", "compat", "src/xrelay", "tests")
    inner = (path for top in deep for path in sorted((ROOT / top).iterdir()) if path.is_dir() and not path.is_symlink())
    found = [*(ROOT / top for top in tops), *inner, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    return [path.relative_to(ROOT).as_posix() for path in found if files_under(path)]


@pytest.mark.parametrize("room", rooms())
def test_sentences_are_plain(room: str) -> None:
    found = [sentence for path in files_under(ROOT / room) for sentence in sentences(path)]
    flagged = [sentence for sentence in found if sentence.rules]
    # Small rooms may have one flagged sentence.
    allowed = max(1, len(found) * PER_MILLE // 1000)
    lines = [f"{each.path.relative_to(ROOT)}:{each.line}: {each.rules} {each.text}" for each in flagged]
    assert len(flagged) <= allowed, "\n".join([f"{len(flagged)} of {len(found)} sentences, allowed {allowed}:", *lines])


def test_code_blocks_and_lists_are_split() -> None:
    text = "One thing.\n```\nwhat is code\n```\n\n- Another thing. `A third` one"
    assert list(split_sentences(text)) == ["One thing.", "- Another thing.", "`A third` one"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("What the pass needs.", "what"),
        ("An extent, of which nothing is known.", "one"),
        ("Nobody reads it.", "person"),
        ("The op says so.", "says"),
        ("It stands in a block.", "stands"),
        ("Gives the ops; it gives the types.", "gives"),
        ("A constant in the place of the op.", "place"),
        ("The op behind the call.", "behind"),
        ("Where it is known, where it is used.", "where"),
    ],
)
def test_every_rule_flags_its_example(text: str, rule: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    (sentence,) = sentences(page)
    assert rule in sentence.rules

"""docs/pass-infrastructure.md: its Python examples print the output that follows them."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "pass-infrastructure.md"
FENCE = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_block_prints_what_the_page_says() -> None:
    namespace: dict[str, object] = {}
    printed = ""
    blocks = FENCE.findall(PAGE.read_text())
    assert len(blocks) > 15
    for language, text in blocks:
        if language == "text":
            assert printed == text
            printed = ""
            continue
        assert printed == "", f"a block printed what no text follows: {printed}"
        with redirect_stdout(StringIO()) as stream:
            exec(compile(text, PAGE.name, "exec"), namespace)
        printed = stream.getvalue()
    assert printed == ""

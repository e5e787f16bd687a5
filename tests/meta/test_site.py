"""The documentation as a site: `make docs` builds it, and every page has its place in it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_navigation_lists_every_page_once() -> None:
    """The indexes of ops and passes link to their pages."""
    listed = re.findall(r"^ +- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    indexed = {page for page in pages if re.fullmatch(r"reference/(ops|passes)/(?!index\.md).+", page)}
    assert sorted(listed) == sorted(pages - indexed)


def test_links_stay_inside_of_the_site() -> None:
    """Links to files outside of docs/ work in a checkout, but not on the site."""
    outside = {
        str(path.relative_to(ROOT)): found
        for path in (ROOT / "docs").rglob("*.md")
        if (found := [link for link in re.findall(r"\]\(([^)#:\s]+)", path.read_text(encoding="utf-8"))
                      if not (path.parent / link).resolve().is_relative_to(ROOT / "docs")])
    }  # fmt: skip
    assert not outside

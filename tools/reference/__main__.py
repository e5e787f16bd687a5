"""`make reference`: writes the pages below the working directory, which must be the checkout."""

from __future__ import annotations

import shutil
import sys

from xrelay.tools.reference.pages import GENERATED_FOLDERS, pages


def main() -> int:
    """Writes every page, and removes pages that have no definition any more."""
    texts = pages()
    for folder in GENERATED_FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

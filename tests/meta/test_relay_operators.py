"""docs/relay-operators.md explains why an operator of Relay does not exist; `relay_operators.txt` lists them all."""

from __future__ import annotations

import re
from pathlib import Path

from xrelay.dialects.relay.core.registry import relay_ops

PAGE = (Path(__file__).parents[2] / "docs" / "relay-operators.md").read_text(encoding="utf-8")
LINES = Path(__file__).with_name("relay_operators.txt").read_text(encoding="utf-8").splitlines()
RELAY = {line for line in LINES if not line.startswith("#")}
EXPLAINED = [
    name
    for row in PAGE.splitlines()
    if row.startswith("| `")
    for name in re.findall("`([^`]+)`", row.split("|")[1])
]  # fmt: skip


def test_every_operator_exists_or_is_explained_once() -> None:
    assert sorted(EXPLAINED) == sorted(RELAY - set(relay_ops()))


def test_the_page_counts_them() -> None:
    assert f"Of the {len(RELAY)} operators" in PAGE
    assert f"{len(RELAY & set(relay_ops()))} exist here" in PAGE

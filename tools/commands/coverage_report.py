"""Formats the output of `xrelay inspect --coverage`: a table of the ops of a model, or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from xrelay.frontend.onnx.coverage import Coverage, OpCoverage

HEAD = ("domain", "op", "opset", "nodes", "imported by")
_MOST_NAMES = 3
"""The number of nodes that are listed for a reason."""


def as_text(coverage: Coverage) -> list[str]:
    """Returns the lines of the table, the reasons below it, and the totals."""
    rows = [(op.domain, op.op_type, str(op.opset), str(op.nodes), _verdict(op)) for op in coverage.ops]
    widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (HEAD, *rows)]
    missing = [op for op in coverage.ops if op.refused]
    for op in missing:
        lines += [f"{op.op_type}: {_nodes(names)}: {reason}" for reason, names in op.refused.items()]
    lines += [f"model: {problem}" for problem in coverage.problems]
    nodes, refused = sum(op.nodes for op in coverage.ops), sum(op.num_refused for op in missing)
    untried = sum(op.untried for op in coverage.ops)
    rest = f"; {untried} depend on unsupported nodes and were not tried" if untried else ""
    lines.append(f"{refused} of {nodes} nodes are unsupported ({len(missing)} of {len(coverage.ops)} ops){rest}")
    return [line.rstrip() for line in lines]


def as_json(coverage: Coverage) -> str:
    """Returns one line of JSON with the same numbers, and the names of all refused nodes."""
    ops = [
        {
            "domain": op.domain,
            "op": op.op_type,
            "opset": op.opset,
            "nodes": op.nodes,
            "taken": {kind.value: count for kind, count in op.kinds.items() if count},
            "refused": [{"reason": reason, "nodes": names} for reason, names in op.refused.items()],
            "untried": op.untried,
            "unneeded": op.unneeded,
        }
        for op in coverage.ops
    ]
    return json.dumps({"whole": coverage.is_whole, "ops": ops, "problems": list(coverage.problems)})


def _verdict(op: OpCoverage) -> str:
    """Returns how the nodes are imported, with numbers if they differ."""
    counts = [(kind.value, count) for kind, count in op.kinds.items()]
    counts += [("unsupported", op.num_refused), ("not tried", op.untried), ("not needed", op.unneeded)]
    present = [(text, count) for text, count in counts if count]
    return present[0][0] if len(present) == 1 else ", ".join(f"{count} {text}" for text, count in present)


def _nodes(names: Sequence[str]) -> str:
    """Returns `2 nodes ('a', 'b')`."""
    listed = ", ".join(map(repr, names[:_MOST_NAMES])) + (", …" if len(names) > _MOST_NAMES else "")
    return f"{len(names)} {'node' if len(names) == 1 else 'nodes'} ({listed})"

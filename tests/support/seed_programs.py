"""Programs printed in articles on Relay, run with the changes listed here.

A program is a file in tests/unit/seeds/programs. `changes` maps a line of the article to the line that runs; `restored`
are lines that the article's page has lost or damaged. With these undone, the text must be the article's: its lines,
without indentation, comments and empty lines, must have the recorded digest.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parents[1] / "unit" / "seeds" / "programs"


@dataclass(frozen=True)
class SeedProgram:
    """A program, its changes, and the digest of the article's text."""

    name: str
    digest: str
    changes: dict[str, str]
    restored: dict[str, str] = field(default_factory=dict)
    """Line that runs → the line on the page; empty if the page has none."""

    @property
    def path(self) -> Path:
        return PROGRAMS / f"{self.name}.py"

    def run(self, **names: Any) -> dict[str, Any]:
        """Executes the program; returns its names."""
        namespace: dict[str, Any] = {"__name__": self.name, **names}
        exec(compile(self.path.read_text(), str(self.path), "exec"), namespace)
        return namespace

    def original(self) -> list[str]:
        """The lines as in the article."""
        back = {changed: line for line, changed in self.changes.items()} | self.restored
        lines = [back.get(line, line) for line in normal_lines(self.path.read_text())]
        return [line for line in lines if line]


def normal_lines(text: str) -> list[str]:
    """The lines of a program without indentation, comments and empty lines, with ASCII quotes."""
    for quote in "“”":
        text = text.replace(quote, '"')
    for quote in "‘’":
        text = text.replace(quote, "'")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def digest(lines: list[str]) -> str:
    """The SHA-256 digest of lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


SIMPLENET = SeedProgram(
    "simplenet",
    digest="13f6500d23653e2bd4298e04b45b4ddaf38d10e5b1ac4e0c5e9f381872d1a001",
    changes={
        "import tvm": "import xrelay as tvm",
        "from tvm import relay": "from xrelay import relay",
        "from tvm.contrib import graph_executor": "from xrelay.contrib import graph_executor",
    },
    restored={
        'm = graph_executor.GraphModule(lib["default"](dev))': 'm = graph_executor.GraphModule(lib"default")',
    },
)

PASS_INFRASTRUCTURE = SeedProgram(
    "pass_infrastructure",
    digest="4e3156d75f97d5fc20bb92dcfb6a301f9848c17ca3b1e4232f931aed08ef3189",
    changes={
        "import tvm": "import xrelay as tvm",
        "from tvm import te": "from xrelay import te",
        "import tvm.relay as relay": "import xrelay.relay as relay",
        'c_data = np.empty(shape).astype("float32")': (
            'c_data = np.linspace(-1, 1, 64 * 54 * 54).reshape(shape).astype("float32")'
        ),
    },
    restored={
        "def example():": "",
        '@relay.op.register_alter_op_layout("nn.conv2d", level=101)': "",
    },
)

TOPI_RESIZE = SeedProgram(
    "topi_resize",
    digest="d938165645f821334aae700ba6dd248621ccb0c22b2e22dfe532fb04b762b411",
    changes={},
    restored={
        "import xrelay as tvm": "",
        "from xrelay import te, topi": "",
        "from xrelay.relay import op as reg": "",
        "from xrelay.topi import tag": "",
        "from xrelay.topi.generic import schedule_injective_from_existing": "",
        "from xrelay.topi.utils import is_empty_shape": "",
        "def compute_by_method(method, output_shape, _nearest_neighbor, _bilinear, _bicubic):": "",
    },
)
"""Two listings and the end of a function, whose first line and imports the article omits."""

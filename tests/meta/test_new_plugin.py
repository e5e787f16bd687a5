"""The package that `xrelay new-plugin` writes is installed, passes its own tests, and is used by the tools."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.out_of_tree import installed, run

from xrelay.tools.xrelay_cli import main

SQUARE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.multiply(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a new package."""
    folder = tmp_path_factory.mktemp("new") / "acme-ops"
    assert main(["new-plugin", "acme-ops", "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def environment(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yields an environment in which the package is installed."""
    with installed(tmp_path_factory.mktemp("site"), str(package)) as environment:
        yield environment


def test_its_own_tests_pass(package: Path, environment: dict[str, str]) -> None:
    command = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_tools_use_its_op_and_pass(environment: dict[str, str], tmp_path: Path) -> None:
    done = run(["xrelay-opt", "-p", "acme-ops-find-squares"], environment, SQUARE)
    assert "acme_ops.scaled_square(%x)" in done.stdout, done.stderr
    text, stages = tmp_path / "square.mlir", tmp_path / "stages"
    text.write_text(SQUARE)
    done = run(
        ["xrelay", "run", str(text), "--random", "--check", "--no-cache", "--dump-stages", str(stages)], environment
    )
    assert done.returncode == 0, done.stderr
    assert "acme_ops.scaled_square" in next(stages.glob("*_fused.mlir")).read_text()

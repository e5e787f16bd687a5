"""`tune`: records that compilations use, interruptions, and measuring processes that crash or hang."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay.api.tuning import tuner
from xrelay.api.tuning.tuner import TunedKernel, tune
from xrelay.errors import InputError
from xrelay.lowering.topi_to_loop.tuning_records import TuningRecord, append_record, read_records

TEXT = """func.func @main(%x: tensor<4x64xf32>, %y: tensor<64x48xf32>) -> tensor<4x48xf32> {
  %z = relay.nn.matmul(%x, %y) : (tensor<4x64xf32>, tensor<64x48xf32>) -> tensor<4x48xf32>
  func.return %z : tensor<4x48xf32>
}"""
OPEN = """func.func @main(%x: tensor<?x64xf32>, %y: tensor<64x48xf32>) -> tensor<?x48xf32> {
  %z = relay.nn.matmul(%x, %y) : (tensor<?x64xf32>, tensor<64x48xf32>) -> tensor<?x48xf32>
  func.return %z : tensor<?x48xf32>
}"""
FAILING_PROCESS = '''"""The measuring process, but it crashes for one schedule."""

import os

from xrelay.api.tuning import process as tuning_process

compiled = tuning_process.candidate_model


def candidate_model(context, job, schedule, target):
    if schedule == os.environ["FAILING_SCHEDULE"]:
        os.abort()
    return compiled(context, job, schedule, target)


tuning_process.candidate_model = candidate_model
tuning_process.main()
'''


@dataclass(frozen=True)
class TunedFile:
    """A model that has been tuned once."""

    model: Path
    records: bytes
    kernel: TunedKernel


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> TunedFile:
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "m.mlir").write_text(TEXT)
    (kernel,) = tune(folder / "m.mlir", folder / "m.jsonl", threads=1, candidates=2).kernels
    return TunedFile(folder / "m.mlir", (folder / "m.jsonl").read_bytes(), kernel)


@pytest.fixture
def records(tuned: TunedFile, tmp_path: Path) -> Path:
    (tmp_path / "m.records.jsonl").write_bytes(tuned.records)
    return tmp_path / "m.records.jsonl"


def with_times(kernel: TunedKernel, *nanoseconds: int) -> TuningRecord:
    """Returns the record of a kernel with other times."""
    measured = zip(kernel.record.measured, nanoseconds, strict=True)
    return replace(kernel.record, measured=tuple(replace(each, nanoseconds=time) for each, time in measured))


def test_records_are_measured_once(tuned: TunedFile, records: Path) -> None:
    assert tuned.kernel.is_new
    assert len(tuned.kernel.record.measured) == 2
    assert all(each.nanoseconds > 0 for each in tuned.kernel.record.measured)
    assert tune(tuned.model, records, threads=1).kernels == (replace(tuned.kernel, is_new=False),)
    assert records.read_bytes() == tuned.records


def test_a_compilation_uses_the_fastest_candidate(tuned: TunedFile, records: Path, tmp_path: Path) -> None:
    append_record(records, with_times(tuned.kernel, 9, 1))
    dump = tmp_path / "stages"
    compiled = xrelay.compile(tuned.model, threads=1, records=records, dump_stages=dump)
    assert f"us by {tuned.kernel.record.measured[1].candidate}" in next(dump.glob("*_loop.mlir")).read_text()
    x, y = np.random.default_rng(0).random((4, 64), np.float32), np.random.default_rng(1).random((64, 48), np.float32)
    np.testing.assert_allclose(compiled.run([x, y])[0], x @ y, rtol=1e-5)


def test_the_model_cache_depends_on_the_records(
    tuned: TunedFile, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XRELAY_CACHE", "1")
    append_record(records, with_times(tuned.kernel, 1, 9))
    before = xrelay.compile(tuned.model, threads=1, records=records).artifact.objects
    append_record(records, with_times(tuned.kernel, 9, 1))
    assert xrelay.compile(tuned.model, threads=1, records=records).artifact.objects != before


def test_a_candidate_that_crashes_fails(
    tuned: TunedFile, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_process.py").write_text(FAILING_PROCESS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("FAILING_SCHEDULE", tuned.kernel.record.measured[1].schedule)
    monkeypatch.setattr(tuner, "_MODULE", "failing_process")
    (kernel,) = tune(tuned.model, records, threads=1, candidates=2, again=True).kernels
    assert [each.nanoseconds > 0 for each in kernel.record.measured] == [True, False]
    assert [each.version for each in read_records(records)] == [1, 1]


def test_a_process_that_hangs_is_ended(
    tuned: TunedFile, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hanging_process.py").write_text("import time; time.sleep(3600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(tuner, "_MODULE", "hanging_process")
    monkeypatch.setattr(tuner, "TIMEOUT_SECONDS", 0.1)
    summary = tune(tuned.model, records, threads=1, candidates=2, again=True)
    assert (summary.kernels, summary.decided) == ((), 1)
    assert records.read_bytes() == tuned.records


def test_an_incomplete_last_line_is_ignored(tuned: TunedFile, records: Path) -> None:
    records.write_bytes(tuned.records + tuned.records[:100])  # killed while it wrote a second line
    assert tune(tuned.model, records, threads=1).kernels == (replace(tuned.kernel, is_new=False),)
    append_record(records, tuned.kernel.record)
    assert records.read_bytes() == tuned.records * 2


def test_damaged_lines_are_refused(tuned: TunedFile, records: Path) -> None:
    for line, message in ((b"[]\n", "is not a JSON object"), (b'{"version": 1}\n', "kernel is not of type str")):
        records.write_bytes(tuned.records + line)
        with pytest.raises(InputError, match=message) as caught:
            read_records(records)
        assert str(caught.value.location) == f"{records}:2"
    records.write_bytes(tuned.records + b'{"version": 2}\n')
    assert read_records(records) == [tuned.kernel.record]


def test_dynamic_kernels_are_counted(tmp_path: Path) -> None:
    (tmp_path / "open.mlir").write_text(OPEN)
    summary = tune(tmp_path / "open.mlir", tmp_path / "r.jsonl", threads=1)
    assert (summary.kernels, summary.dynamic) == ((), 1)


def test_foreign_targets_are_refused(tuned: TunedFile, records: Path) -> None:
    with pytest.raises(InputError, match="does not run here"):
        tune(tuned.model, records, target="cpu -mtriple=aarch64-linux-gnu")

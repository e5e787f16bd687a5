"""Hand-written LLVM IR for the runtime's tests, and models made from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from xrelay.api.model import CompiledModel
from xrelay.runtime import cache
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.metadata import KernelInfo, ModelMetadata, TensorSpec
from xrelay.runtime.object_code.llvm_compiler import compile_many

# out = x + y + w, in parallel, through the arena; the kernel is in a separate module.
ADD_ENTRY = """
declare i32 @add_kernel(ptr, ptr, ptr, ptr, ptr)
declare ptr @memcpy(ptr, ptr, i64)
define i32 @xrelay_entry(ptr %ctx, ptr %args) {
  %x = load ptr, ptr %args
  %y.p = getelementptr ptr, ptr %args, i64 1
  %y = load ptr, ptr %y.p
  %out.p = getelementptr ptr, ptr %args, i64 2
  %out = load ptr, ptr %out.p
  %w.p = getelementptr ptr, ptr %args, i64 3
  %w = load ptr, ptr %w.p
  %arena.p = getelementptr ptr, ptr %args, i64 4
  %arena = load ptr, ptr %arena.p
  %s = call i32 @add_kernel(ptr %ctx, ptr %x, ptr %y, ptr %w, ptr %arena)
  %c = call ptr @memcpy(ptr %out, ptr %arena, i64 400)
  ret i32 %s
}
"""
ADD_KERNEL = """
declare i32 @xrelay_parallel_for(ptr, ptr, ptr, i64)
define internal i32 @body(ptr %ctx, ptr %env, i64 %begin, i64 %end) {
entry:
  %x = load ptr, ptr %env
  %y.p = getelementptr ptr, ptr %env, i64 1
  %y = load ptr, ptr %y.p
  %w.p = getelementptr ptr, ptr %env, i64 2
  %w = load ptr, ptr %w.p
  %out.p = getelementptr ptr, ptr %env, i64 3
  %out = load ptr, ptr %out.p
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %xi = getelementptr float, ptr %x, i64 %i
  %yi = getelementptr float, ptr %y, i64 %i
  %wi = getelementptr float, ptr %w, i64 %i
  %oi = getelementptr float, ptr %out, i64 %i
  %xv = load float, ptr %xi
  %yv = load float, ptr %yi
  %wv = load float, ptr %wi
  %xy = fadd float %xv, %yv
  %sum = fadd float %xy, %wv
  store float %sum, ptr %oi
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %exit
exit:
  ret i32 0
}
define i32 @add_kernel(ptr %ctx, ptr %x, ptr %y, ptr %w, ptr %out) {
  %env = alloca [4 x ptr]
  store ptr %x, ptr %env
  %y.p = getelementptr ptr, ptr %env, i64 1
  store ptr %y, ptr %y.p
  %w.p = getelementptr ptr, ptr %env, i64 2
  store ptr %w, ptr %w.p
  %out.p = getelementptr ptr, ptr %env, i64 3
  store ptr %out, ptr %out.p
  %s = call i32 @xrelay_parallel_for(ptr %ctx, ptr @body, ptr %env, i64 100)
  ret i32 %s
}
"""


@pytest.fixture(autouse=True)
def _caches_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", set[str]())


@pytest.fixture(scope="session")
def add_artifact() -> Artifact:
    """`out = x + y + w` on 100 floats with a weight and an arena, in two object files."""
    vector = (100,)
    metadata = ModelMetadata(
        inputs=(TensorSpec("x", "float32", vector), TensorSpec("bias", "float32", vector)),
        outputs=(TensorSpec("out", "float32", vector),),
        weights=(TensorSpec("conv1.w", "float32", vector),),
        arena_size=400,
        kernels=(KernelInfo("add_kernel", ("node_1", "node_2")),),
        name="adder",
    )
    objects = compile_many([ADD_ENTRY, ADD_KERNEL], cpu="", features="")
    return Artifact(tuple(objects), metadata, (np.arange(100, dtype=np.float32),))


@pytest.fixture
def adder(add_artifact: Artifact) -> CompiledModel:
    """The adder as a model on two threads."""
    return CompiledModel(add_artifact, num_threads=2)


@pytest.fixture
def build_model() -> Callable[[str, ModelMetadata], CompiledModel]:
    """Makes a model from an entry's IR text and metadata."""

    def build(ir_text: str, metadata: ModelMetadata) -> CompiledModel:
        return CompiledModel(Artifact(tuple(compile_many([ir_text], cpu="", features="")), metadata), num_threads=1)

    return build

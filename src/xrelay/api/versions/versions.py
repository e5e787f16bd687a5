"""Versions of a model with named dimensions, each compiled for certain sizes and used by the runs with these sizes.

A version is a complete model without dynamic dimensions. Runs find it in a dictionary by their sizes. `specialize`
makes a version in this process and keeps it, also in saved files. Otherwise runs are counted, and after
`RUNS_BEFORE_VERSION` runs with the same sizes a helper thread (`helper.py`) finds the version in the cache, or
lets a process of low priority compile it into the cache. A model has at most `MAX_VERSIONS` such versions: the least
recently used one is dropped, and then twice as many runs are needed for the next, so that changing sizes do not load
versions forever.

Weights of a version that equal those of the model for all sizes are replaced by them; the others, such as weights in
another layout, are mapped from the cache, or in memory if the cache is off. Each version has an arena of its own.

This module does not import the compiler, so that a saved model uses its versions without it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from xrelay.arguments import Shapes
from xrelay.errors import InputError
from xrelay.forking import forks_wait
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.dim_text import solved_sizes
from xrelay.runtime.executable import Executable, Sizes
from xrelay.shortage import reporting_shortage

if TYPE_CHECKING:
    from xrelay.api.versions.helper import VersionHelper
    from xrelay.api.versions.recipe import Recipe

RUNS_BEFORE_VERSION: Final = 4
"""The number of runs with the same sizes after which a version is made."""
MAX_VERSIONS: Final = 8
"""The maximum number of versions that a model makes by itself."""
MAX_WEIGHTS: Final = 256 << 20
"""The maximum number of bytes of weights of a model that makes versions by itself: each is a file with all weights."""
_MAX_COUNTED_SIZES: Final = 64
"""The maximum number of sizes whose runs are counted."""
_COMPARED_BYTES: Final = 1 << 20
"""The number of bytes of weights that are compared at once."""


class Version:
    """The model for certain sizes."""

    def __init__(self, artifact: Artifact, *, is_kept: bool):
        """`is_kept` is whether `specialize` made it."""
        self.artifact, self.is_kept = artifact, is_kept
        self.used = 0
        """The number of the last run, among those of all versions of the model."""
        self.executable: Executable | None = None
        self._loading = threading.Lock()

    def load(self) -> Executable:
        """Returns the native code, loaded by the first call."""
        with reporting_shortage(), forks_wait(), self._loading:
            if self.executable is None:
                self.executable = Executable(self.artifact)
            return self.executable


class Versions:
    """The versions of a model. Thread-safe."""

    def __init__(self, artifact: Artifact, recipe: Recipe | None = None, helper: VersionHelper | None = None):
        """Begins with the versions of `artifact`; `recipe` makes others on demand, and `helper` by itself."""
        self.model, self._recipe, self._helper = artifact, recipe, helper
        self._dims = artifact.metadata.dims
        self._found: dict[Sizes, Version] = {}
        self._runs: dict[Sizes, int] = {}
        self._runs_needed = RUNS_BEFORE_VERSION
        self._clock = count(1)
        self._changing = threading.Lock()
        for each in artifact.versions:
            self._found[_sizes_of(each, artifact)] = Version(each, is_kept=True)
        if helper is not None:
            helper.begin(self)
            # Not at exit, where the helper ends by itself, after its thread.
            weakref.finalize(self, helper.close).atexit = False

    def at(self, sizes: Sizes) -> Executable | None:
        """Returns the code for a run with these sizes; `None` if there is no version of them. Counts the run."""
        version = self._found.get(sizes)
        if version is None:
            if self._helper is not None:
                runs = self._runs[sizes] = self._runs.get(sizes, 0) + 1
                if runs == self._runs_needed:
                    self._helper.request(sizes)
                elif len(self._runs) > _MAX_COUNTED_SIZES:
                    self._runs = {}
            return None
        version.used = next(self._clock)
        executable = version.executable
        return version.load() if executable is None else executable

    def kept(self) -> tuple[Artifact, ...]:
        """Returns the versions that `specialize` made."""
        return tuple(version.artifact for version in list(self._found.values()) if version.is_kept)

    def cancel(self) -> None:
        """Ends all current runs."""
        for version in list(self._found.values()):
            if version.executable is not None:
                version.executable.cancel()

    def specialize(self, shapes: Shapes) -> None:
        """Makes the version for `shapes`. Raises the errors of `CompiledModel.specialize`."""
        recipe, inputs = self._recipe, self.model.metadata.inputs
        if recipe is None:
            raise InputError(
                "the program of the model is not available",
                help="specialize models that were compiled from a file or module",
            )
        recipe.check_unchanged()
        sizes = recipe.sizes_of(inputs, self._dims, shapes)
        recipe = recipe.at(inputs, sizes)
        artifact = recipe.find()
        if artifact is None:
            artifact = recipe.build().artifact
        if not self.add(tuple(sizes.values()), artifact, is_kept=True):
            raise InputError("the model for these sizes has other inputs or outputs", location=recipe.name)

    def add(self, sizes: Sizes, artifact: Artifact, *, is_kept: bool = False) -> bool:
        """Adds a version, unless it does not have the inputs and outputs of the model; returns whether it does."""
        if not _fits(artifact, self.model, dict(zip(self._dims, sizes, strict=True))):
            return False
        version = Version(_with_shared_weights(artifact, self.model.weights), is_kept=is_kept)
        if not is_kept:
            version.load()
        with forks_wait(is_short=True), self._changing:
            if is_kept or sizes not in self._found:
                self._found[sizes] = version
            version.used = next(self._clock)
            others = [each for each, version in self._found.items() if not version.is_kept]
            if len(others) > MAX_VERSIONS:
                del self._found[min(others, key=lambda each: self._found[each].used)]
                self._runs_needed *= 2
                self._runs = {}
        return True


def _sizes_of(version: Artifact, model: Artifact) -> Sizes:
    """Returns the sizes of a version, from the extents of its inputs."""
    pairs = zip(model.metadata.inputs, version.metadata.inputs, strict=True)
    rows = [row for own, fixed in pairs if not own.containers for row in zip(own.shape, fixed.known_shape, strict=True)]
    sizes = solved_sizes(rows)
    return tuple(sizes[name] for name in model.metadata.dims)


def _fits(version: Artifact, model: Artifact, sizes: dict[str, int]) -> bool:
    """Whether a version has the inputs and outputs of the model at these sizes."""
    fixed, opened = version.metadata, model.metadata
    inputs = [spec if spec.containers else spec.at(sizes) for spec in opened.inputs]
    outputs = [[(spec.name, spec.dtype, spec.containers) for spec in each.outputs] for each in (fixed, opened)]
    return (
        not fixed.dims
        and not fixed.functions
        and list(fixed.inputs) == inputs
        and outputs[0] == outputs[1]
        and {*fixed.dynamic_buffers} <= {*opened.dynamic_buffers}
    )


def _with_shared_weights(artifact: Artifact, known: Sequence[NDArray[Any]]) -> Artifact:
    """Returns the artifact, in which weights that equal one of `known` are this array."""
    candidates: dict[tuple[Any, tuple[int, ...]], list[NDArray[Any]]] = {}
    for array in known:
        candidates.setdefault((array.dtype, array.shape), []).append(array)

    def shared(array: NDArray[Any]) -> NDArray[Any]:
        same = (each for each in candidates.get((array.dtype, array.shape), ()) if _equal(each, array))
        return next(same, array)

    return replace(artifact, weights=tuple(map(shared, artifact.weights)))


def _equal(lhs: NDArray[Any], rhs: NDArray[Any]) -> bool:
    """Whether two contiguous arrays of equal size have the same bytes."""
    one, other = (array.reshape(-1).view(np.uint8) for array in (lhs, rhs))
    starts = range(0, len(one), _COMPARED_BYTES)
    return all(
        np.array_equal(one[start : start + _COMPARED_BYTES], other[start : start + _COMPARED_BYTES]) for start in starts
    )

"""How a model was compiled: program, target and options, so that it can be compiled again for certain sizes.

A recipe finds compiled models in the cache without importing the compiler, and compiles those that are absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xrelay.api.model_key import content_digest, file_state, model_key
from xrelay.arguments import Shapes
from xrelay.errors import ArtifactError, InputError
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.runtime.abi import MAX_EXTENT
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cache import ModelCache
from xrelay.runtime.metadata import TensorSpec
from xrelay.target.target import Target

if TYPE_CHECKING:
    from xrelay.api.build_artifact import Built
    from xrelay.api.sources import Source
    from xrelay.api.stage_dump import StageReceiver
    from xrelay.api.stage_runner import Progress
    from xrelay.passes.infra.entered_contexts import EnteredContext


@dataclass(frozen=True, eq=False)
class Recipe:
    """The program and the options of a compilation."""

    source: Source
    target: Target
    opt_level: int
    shapes: Shapes
    integers: bool = False
    exact: bool = False
    cache: bool = True
    """Whether the cache may be used."""
    trust: bool = False
    records: Path | None = None
    """The file of tuning records."""
    context: EnteredContext | None = None
    """The context that was entered, if it changes or observes the compilation; the cache of models is then not used."""
    digest: str | None = None
    """The digest of the program; `None` if it is unknown."""
    state: str = ""
    """The state of the file that the program is in."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Sizes of the named dimensions, for a version; see `at`."""

    @property
    def path(self) -> Path | None:
        """The file of the program; `None` for a program in memory."""
        return Path(self.source) if isinstance(self.source, str | PathLike) else None

    @property
    def name(self) -> str:
        """The name of the model in messages."""
        if self.path is not None:
            return self.path.stem
        graph = getattr(self.source, "graph", None)
        return "model" if graph is None else graph.name or "model"

    @property
    def is_onnx(self) -> bool:
        """Whether the program is an ONNX file."""
        return self.path is not None and self.path.suffix == ".onnx"

    @property
    def _fixes_inputs(self) -> bool:
        """Whether the shapes of inputs fix all sizes; the model has other numbers for dimensions named in `shapes`.

        They do not if `shapes` may have sizes of dimensions, which no input has then.
        """
        return self.is_onnx and not any(
            _is_size(shape) or any(isinstance(extent, str) for extent in shape) for shape in self.shapes.values()
        )

    def at(self, inputs: Sequence[TensorSpec], sizes: Mapping[str, int]) -> Recipe:
        """Returns the recipe of a version; `inputs` are those of the model for all sizes.

        For an ONNX model, it is that of a compilation with the shapes of all inputs, unless `shapes` has names.
        """
        shapes = {name: numbers for name, numbers in self.shapes.items() if name not in sizes}
        if self._fixes_inputs:
            fixed = [spec for spec in inputs if not spec.containers and spec.is_open]
            shapes |= {spec.name: spec.at(sizes).known_shape for spec in fixed}
        return replace(self, shapes=shapes, sizes=sizes)

    def find(self) -> Artifact | None:
        """Returns the cached model, which may have another name; `None` if it is absent or damaged."""
        entry = self._entry()
        path = None if entry is None else entry.models.get(entry.key)
        if entry is None or path is None:
            return None
        try:
            # The weights of a version are mapped: most equal those of the model for all sizes, which replace them.
            artifact = Artifact.load(path, key=entry.key, mmap=True if self.sizes else None)
            return replace(artifact, metadata=replace(artifact.metadata, name=self.name))
        except ArtifactError as error:
            entry.models.drop(entry.key, error.message)
            return None

    @gc_pause()
    def build(self, *, receiver: StageReceiver | None = None, progress: Progress | None = None) -> Built:
        """Compiles the model. Adds it to the cache if there is no `receiver`. Raises the errors of `compile`."""
        from xrelay.api.build_artifact import build_artifact
        from xrelay.api.sources import fix_sizes, load_source

        module = load_source(self.source, shapes=self.shapes, trust=self.trust)
        if self.sizes and not self._fixes_inputs:
            fix_sizes(module, self.sizes)
        context = self.context if self.sizes else None  # already entered for the model for all sizes
        with nullcontext() if context is None else context, self.target:
            # Entering the target enables the strategies and hooks that are registered for it.
            built = build_artifact(
                module,
                self.target,
                opt_level=self.opt_level,
                receiver=receiver,
                cache=self.cache,
                progress=progress,
                name=self.name,
                integers=self.integers,
                exact=self.exact,
                records=self.records,
            )
        entry = self._entry() if receiver is None else None
        if entry is not None:
            entry.models.put(entry.key, partial(built.artifact.write, key=entry.key))
        return built

    @property
    def is_cached(self) -> bool:
        """Whether the model and its versions are in the cache."""
        return self._entry() is not None

    def lasting(self) -> Recipe | None:
        """Returns the recipe for later use: with an absolute path, or the digest of a module.

        Returns `None` for a program whose content is in memory alone, which the recipe would keep there.
        """
        if self.path is not None:
            path = self.path.absolute()
            known = self.digest is not None and self.state == file_state(path)
            return replace(self, source=path, digest=content_digest(path) if known else None)
        if isinstance(self.source, bytes) or hasattr(self.source, "graph"):
            return None
        return self if self.digest is not None else replace(self, digest=content_digest(self.source))

    def check_unchanged(self) -> None:
        """Raises `InputError` if the program has changed since it was compiled."""
        if self.path is not None and self.state == file_state(self.path):
            return
        if self.digest is None or self.digest != content_digest(self.source):
            raise InputError("the program has changed since it was compiled", location=self.name, help="compile it")

    def sizes_of(self, inputs: Sequence[TensorSpec], dims: Sequence[str], shapes: Shapes) -> dict[str, int]:
        """Returns the size of each of `dims` for `shapes`, as `compile` takes them; `inputs` are those of the model.

        Raises the errors of `compile` for wrong names and shapes, and `InputError` if a size is missing, contradicts
        another, or is out of its range.
        """
        specs = {spec.name: spec for spec in inputs} if self.is_onnx else {}
        rows: list[tuple[int | str, int]] = []
        for name, extents in shapes.items():
            numbers = [extent if isinstance(extent, int) else -1 for extent in extents]
            spec = specs.get(name)
            if spec is not None and len(spec.shape) == len(numbers):
                rows += zip(spec.shape, numbers, strict=True)
            else:
                rows.append((name, numbers[0]) if _is_size(numbers) else ("", -1))
        sizes = {name: size for name, size in reversed(rows) if isinstance(name, str)}
        agree = all(size >= 0 and size == sizes.get(str(extent), extent) for extent, size in rows)
        if not agree or sizes.keys() - {*dims}:
            # Other names may be dimensions of the program that `relay-fix-extents` has replaced by numbers.
            self._refuse(shapes)
        if not agree:
            help = "pass shapes of inputs that agree, or the size of each name"
            raise InputError(f"shapes does not fix one size for each dimension: {shapes}", help=help)
        missing = [name for name in dims if name not in sizes]
        if missing:
            self._refuse(shapes)
            raise InputError(f"the dimension {missing[0]} stays dynamic", help=f"pass sizes of {', '.join(dims)}")
        for name in dims:
            hint = self.shapes.get(name, (0, MAX_EXTENT, 0))
            least, greatest, _ = (extent for extent in hint if isinstance(extent, int))
            if not least <= sizes[name] <= greatest:
                raise InputError(f"the dimension {name} is {sizes[name]}, the range is {least} to {greatest}")
        return {name: sizes[name] for name in dims}

    def _refuse(self, shapes: Shapes) -> None:
        """Raises the errors that `compile` has for `shapes` when it reads the program and infers its types."""
        from xrelay.api.sources import load_source
        from xrelay.passes.types.infer_type import infer_types

        infer_types(load_source(self.source, shapes=shapes, trust=self.trust))

    def _entry(self) -> _Entry | None:
        """Returns the cache entry of the model; `None` without a cache, or for a model without a key."""
        is_cached = self.cache and self.context is None and not self.trust and self.target.runs_here()
        models = ModelCache.default() if is_cached else None
        if models is None:
            return None
        sizes = None if self._fixes_inputs else self.sizes
        key = model_key(
            self.digest,
            self.target,
            self.opt_level,
            self.shapes,
            integers=self.integers,
            exact=self.exact,
            sizes=sizes,
            records=self.records,
        )
        return None if key is None else _Entry(models, key)


class _Entry(NamedTuple):
    """An entry of the cache of models."""

    models: ModelCache
    key: str


def _is_size(numbers: Sequence[int | str]) -> bool:
    """Whether `numbers` can be the only size of a dimension: a number, or three equal ones."""
    return len(numbers) in (1, 3) and len({*numbers}) == 1

"""The functions of onnxruntime about the installation, and its logging and telemetry, which have no effect here."""

from __future__ import annotations

from xrelay.onnxruntime.session import PROVIDER

__version__ = "1.32.0"
"""The version of onnxruntime whose API this package has."""


def get_available_providers() -> list[str]:
    """Returns the execution provider, that of the CPU."""
    return [PROVIDER]


def get_all_providers() -> list[str]:
    """Returns the execution provider, that of the CPU."""
    return [PROVIDER]


def get_device() -> str:
    """Returns `CPU`."""
    return "CPU"


def get_version_string() -> str:
    """Returns the version of onnxruntime whose API this module has."""
    return __version__


def set_default_logger_severity(severity: int) -> None:
    """Does nothing, because xrelay logs with Python's `logging`."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Does nothing, because xrelay logs with Python's `logging`."""


def enable_telemetry_events() -> None:
    """Does nothing: xrelay sends no telemetry."""


def disable_telemetry_events() -> None:
    """Does nothing: xrelay sends no telemetry."""


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: object = None) -> None:
    """Does nothing: models run on the CPU."""

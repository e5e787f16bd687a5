"""Packages found in the folders of the import path, compared with `importlib.metadata`."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from xrelay.installed_packages import FOUNDATIONS, installed_packages


def test_versions_are_those_of_the_metadata():
    assert installed_packages().versions == {name: version(name) for name in FOUNDATIONS}


def test_the_first_folder_on_the_path_has_precedence_whatever_its_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "numpy-0.1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), tmp_path, *sys.path])
    assert installed_packages().versions["numpy"] == "0.1"


def test_a_missing_package_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "numpy.egg-info").mkdir()
    (tmp_path / "numpy.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.2\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installed_packages().versions == {name: "0.2" if name == "numpy" else "absent" for name in FOUNDATIONS}


@pytest.mark.parametrize(
    ("name", "text", "announces"),
    [
        ("acme-1.0.dist-info", "[xrelay.plugins]\nops = acme.ops\n", True),
        ("acme.egg-info", "[xrelay.dialects]\nacme = acme.ops:ACME\n", True),
        ("acme-1.0.dist-info", "[console_scripts]\nacme = acme:main\n[xdsl.universe]\nacme = acme:ALL\n", True),
        ("acme-1.0.dist-info", "[console_scripts]\nacme = acme:main\n", False),
        ("xdsl-1.0.dist-info", "[xdsl.universe]\nxdsl = xdsl:ALL\n", False),
    ],
)
def test_entry_points_announce_extensions(
    name: str, text: str, announces: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / name).mkdir()
    (tmp_path / name / "entry_points.txt").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installed_packages().announce is announces


def test_an_archive_on_the_path_may_announce_extensions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with zipfile.ZipFile(tmp_path / "packages.zip", "w") as archive:
        archive.writestr("acme.py", "")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages.zip")])
    assert installed_packages().announce

"""Whoever installs featprop, with any extra, gets permissively licensed packages only, but for those named here.

What a package states is looked at, not what its authors put into its files: the libraries of compilers that wheels of
NumPy and SciPy bring come under the exceptions of these licences.
"""

import re
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
Brought = Callable[..., dict[str, Distribution]]

PERMISSIVE = re.compile(
    r"MIT(-CMU| License)?|(New )?0?BSD(-[234]-Clause| [23]-Clause)?( License)?|ISC( License.*)?|Zlib|"
    r"Apache[- ](License )?(Software License|2\.0)( WITH LLVM-exception)?|PSF-2\.0|Python Software Foundation License|"
    r"HPND|(The )?Unlicense.*|CC0-1\.0|BSL-1\.0",
    re.IGNORECASE,
)
WEAK = {
    "certifi": "MPL-2.0: the certificate authorities that requests knows; used as it is, none of it is in featprop",
    "tqdm": "MPL-2.0 AND MIT: PyTorch Geometric needs it; used as it is, none of it is in featprop",
}
"""Copyleft that ends at the package's own files."""
MOZILLA = re.compile(r"\bMPL[- ]2\.0\b")
CARDS = re.compile(r"nvidia-.*|cuda-.*")
"""NVIDIA's own, not free: PyTorch's build for its cards needs them, the one for processors does not."""


def stated(package: Distribution) -> str:
    """The licence a package states: as an expression, else in its classifiers, else in words."""
    said = package.metadata
    named = [
        line.rpartition("::")[2].strip() for line in said.get_all("Classifier", []) if line.startswith("License ::")
    ]
    return said.get("License-Expression") or " AND ".join(named) or said.get("License") or "nothing"


def is_permissive(licence: str) -> bool:
    """Whether all parts of an expression are, or one of several to choose from."""
    parts = licence.replace("(", " ").replace(")", " ") if " OR " in licence or " AND " in licence else licence
    return all(
        any(PERMISSIVE.fullmatch(choice.strip()) for choice in part.split(" OR ")) for part in parts.split(" AND ")
    )


def test_every_package_that_is_installed_is_permissively_licensed(brought: Brought) -> None:
    packages = brought("all")
    assert {"numpy", "torch", "uvicorn", "duckdb", "distributed"} <= set(packages)
    others = {name: stated(package) for name, package in packages.items() if not is_permissive(stated(package))}
    unexpected = {name: licence for name, licence in others.items() if name not in WEAK and not CARDS.fullmatch(name)}
    assert unexpected == {}
    for name in WEAK.keys() & packages.keys():
        assert MOZILLA.search(stated(packages[name])), f"{name} has another licence now"


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT AND GPL-3.0-or-later", False),
        ("GNU General Public License v3 (GPLv3)", False),
        ("nothing", False),
    ],
)
def test_what_counts_as_permissive(licence: str, expected: bool) -> None:
    assert is_permissive(licence) is expected


def test_the_pins_are_all_there_is(brought: Brought) -> None:
    """No package that comes with another is left to chance: each is pinned, for every Python."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pins)
    here = {canonicalize_name(pin.name): pin for pin in pins if pin.marker is None or pin.marker.evaluate()}
    packages = brought("all")
    if any(not here[name].specifier.contains(packages[name].version) for name in here.keys() & packages.keys()):
        pytest.skip("what is installed here is not what is pinned")
    cards = {name for name in packages if CARDS.fullmatch(name) or name == "triton"}
    assert packages.keys() - here.keys() - cards == set()

"""featprop requires permissively licensed packages only, except for those listed here.

The tests read what packages declare, not their files: the compiler libraries in the wheels of NumPy and SciPy come
under the exceptions of their licences.
"""

import re
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
Required = Callable[..., dict[str, Distribution]]

PERMISSIVE = re.compile(
    r"MIT(-CMU| License)?|(New )?0?BSD(-[234]-Clause| [23]-Clause)?( License)?|ISC( License.*)?|Zlib|"
    r"Apache[- ](License )?(Software License|2\.0)( WITH LLVM-exception)?|PSF-2\.0|Python Software Foundation License|"
    r"HPND|(The )?Unlicense.*|CC0-1\.0|BSL-1\.0",
    re.IGNORECASE,
)
WEAK = {
    "certifi": "MPL-2.0: the certificate authorities of requests; unchanged, and not part of featprop",
    "tqdm": "MPL-2.0 AND MIT: required by PyTorch Geometric; unchanged, and not part of featprop",
}
"""Copyleft that applies to the files of the package only."""
MOZILLA = re.compile(r"\bMPL[- ]2\.0\b")
CUDA = re.compile(r"nvidia-.*|cuda-.*")
"""Proprietary packages of NVIDIA, which only the CUDA build of PyTorch requires."""


def declared_licence(package: Distribution) -> str:
    """Return the licence of a package: its expression, else its classifiers, else its text."""
    metadata = package.metadata
    classifiers = [line for line in metadata.get_all("Classifier", []) if line.startswith("License ::")]
    names = " AND ".join(line.rpartition("::")[2].strip() for line in classifiers)
    return metadata.get("License-Expression") or names or metadata.get("License") or "nothing"


def is_permissive(licence: str) -> bool:
    """Return whether every part of an expression, or one of its alternatives, is permissive."""
    parts = licence.replace("(", " ").replace(")", " ") if " OR " in licence or " AND " in licence else licence
    return all(
        any(PERMISSIVE.fullmatch(choice.strip()) for choice in part.split(" OR ")) for part in parts.split(" AND ")
    )


def test_required_packages_are_permissively_licensed(required: Required) -> None:
    packages = required("all")
    assert {"numpy", "torch", "uvicorn", "duckdb", "distributed"} <= set(packages)
    others = {
        name: declared_licence(package)
        for name, package in packages.items()
        if not is_permissive(declared_licence(package))
    }
    unexpected = {name: licence for name, licence in others.items() if name not in WEAK and not CUDA.fullmatch(name)}
    assert unexpected == {}
    for name in WEAK.keys() & packages.keys():
        assert MOZILLA.search(declared_licence(packages[name])), f"{name} has another licence now"


def test_every_required_package_is_pinned(required: Required) -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pins)
    pinned = {canonicalize_name(pin.name): pin for pin in pins if pin.marker is None or pin.marker.evaluate()}
    packages = required("all")
    if any(not pinned[name].specifier.contains(packages[name].version) for name in pinned.keys() & packages.keys()):
        pytest.skip("the installed packages are not the pinned ones")
    cuda = {name for name in packages if CUDA.fullmatch(name) or name == "triton"}
    assert packages.keys() - pinned.keys() - cuda == set()

"""What the page needs beside its code is in the wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "featprop" / "page"


def test_templates_styles_and_scripts_are_installed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    files = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix in (".j2", ".css", ".js", ".svg")]
    assert len(files) > 12
    with zipfile.ZipFile(wheel) as archive:
        assert {f"featprop/page/{path.relative_to(FOLDER).as_posix()}" for path in files} <= set(archive.namelist())

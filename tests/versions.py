"""`make test-versions`: Python 3.11 to 3.13, as far as the machine has them, with the newest and the oldest packages.

For each of them the package is installed into an environment of its own in a scratch folder, with the newest NumPy,
Numba, pyarrow and msgspec that pyproject.toml allows, and then with the oldest. There `namesake demo` and quick tests
run. This needs a package index, and takes some minutes per environment. It ends with a table; the exit code is 1 if
anything fails.

Run: python tests/versions.py [3.11 3.12 3.13]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
PACKAGES = ("numpy", "numba", "pyarrow", "msgspec")
TESTS = ("arrays", "kernels", "hash", "kernel_cache", "layout", "build", "store", "formats", "outputs", "sample")
TESTS += ("recipe", "linker")
"""Tests of the kernels, of KBs, of files and of linking, which need no large package."""
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "networkx", "nltk", "orjson", "simplemma", "typing_extensions")
LIMITS = f"""
import tomllib
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.version import Version
oldest = {{}}
for each in map(Requirement, tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]):
    if each.name in {PACKAGES} and (each.marker is None or each.marker.evaluate()):
        limits = [Version(limit.version) for limit in each.specifier if limit.operator == ">="]
        oldest[each.name] = max(oldest.get(each.name, limits[0]), *limits)
print(*(f"{{name}}=={{limit}}" for name, limit in oldest.items()))
"""
INSTALLED = f"from importlib.metadata import version; print(*map(version, {PACKAGES}))"


def interpreter(python: str) -> str | None:
    """A Python of this version that can make environments, from the path or from pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    on_path = filter(None, [shutil.which(f"python{python}")])
    for found in (*on_path, *sorted(pyenv.glob(f"{python}.*/bin/python"))):
        asked = [str(found), "-c", "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == python:
            return str(found)
    return None


class Trial:
    """One environment: a Python, with the newest or the oldest packages."""

    def __init__(self, python: str, interpreter: str, wheel: Path, is_oldest: bool) -> None:
        self.name = f"{python} {'oldest' if is_oldest else 'newest'}"
        self.folder = wheel.parent / self.name.replace(" ", "-")
        self.bin = self.folder / "bin"
        self.is_oldest = is_oldest
        self.interpreter, self.wheel = interpreter, wheel

    def run(self, *command: object) -> str:
        """The output of a command with nothing of this machine's caches; raises where it fails."""
        variables = {"NUMBA_CACHE_DIR": self.folder / "kernels", "XDG_CACHE_HOME": self.folder / "cache"}
        environment = os.environ | {name: str(folder) for name, folder in variables.items()}
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run([*map(str, command)], cwd=ROOT, env=environment, check=True, text=True, **both).stdout

    def install(self) -> str:
        """The versions that are installed."""
        self.run(self.interpreter, "-m", "venv", self.folder)
        limits = self.run(self.bin / "python", "-c", LIMITS).split() if self.is_oldest else []
        binary = f"--only-binary={','.join(PACKAGES)}"
        self.run(self.bin / "python", "-m", "pip", "install", binary, self.wheel, *TOOLS, *limits)
        return self.run(self.bin / "python", "-c", INSTALLED)

    def result(self) -> tuple[str, str]:
        """The versions, and which step fails, if any."""
        versions, step = "", "install"
        tests = [f"tests/test_{name}.py" for name in TESTS]
        try:
            versions = self.install()
            step = "demo"
            self.run(self.bin / "namesake", "demo")
            step = "tests"
            self.run(self.bin / "python", "-m", "pytest", "-n", "auto", "--dist", "loadgroup", "-m", "not slow", *tests)
        except subprocess.CalledProcessError as problem:
            print(f"{self.name}: {step} failed:\n{problem.stdout[-4000:]}", flush=True)
            return versions, f"{step} failed"
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return versions, "ok"


def built(folder: Path) -> Path:
    """The wheel of this checkout, built in a copy of it."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(folder)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def main(pythons: list[str]) -> int:
    """Try every Python, and print a table."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="namesake-versions-") as scratch:
        wheel = built(Path(scratch))
        for python in pythons:
            found = interpreter(python)
            if found is None:
                print(f"Python {python} is not on this machine: not tested", flush=True)
                continue
            for is_oldest in (False, True):
                trial = Trial(python, found, wheel, is_oldest)
                print(f"testing Python {trial.name} ({found}) …", flush=True)
                versions, result = trial.result()
                rows.append((*trial.name.split(), *(versions.split() or ["?"] * len(PACKAGES)), result))
    for row in (("python", "packages", *PACKAGES, "result"), *rows):
        print("".join(f"{cell:<10}" for cell in row).rstrip())
    return int(not rows or any(row[-1] != "ok" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PYTHONS)))

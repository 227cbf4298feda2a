#!/usr/bin/env python3
"""The Python packages, installed by pip from the tree into a fresh environment, without network.

    tests/programs/python.py BUILD [VECTORS]         VECTORS: those of cvbc, used where they are present
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check_types(work, site):
    """The hints hold inside, and a program outside sees them."""
    if subprocess.run(["sh", "-c", "command -v mypy"], capture_output=True, timeout=300).returncode:
        print("no mypy: hints were not checked")
        return
    run = lambda *what: subprocess.run(["mypy", "--strict", "--cache-dir", os.path.join(work, "mypy"), *what], cwd=site,
                                       capture_output=True, text=True, timeout=300)
    inside = run("-p", "penta", "-p", "cvbc")
    if inside.returncode:
        sys.exit(inside.stdout)
    outside = run(os.path.join(PROGRAMS, "typed.py")).stdout
    if outside.count("error:") != 1 or 'variable has type "int"' not in outside:
        sys.exit(outside)


def main():
    build = os.path.abspath(sys.argv[1])
    vectors = [os.path.abspath(path) for path in sys.argv[2:3]]
    with tempfile.TemporaryDirectory() as work:
        made = subprocess.run([sys.executable, "-m", "venv", os.path.join(work, "env")], capture_output=True, timeout=300)
        if made.returncode:
            print("no venv here: skipped", made.stderr.decode())
            return 77
        python = os.path.join(work, "env", "bin", "python")
        environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PENTA_BUILD": build,
                       "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([python, "-m", "pip", "install", "-q", os.path.join(ROOT, "bindings", "python")], check=True,
                       env=environment, timeout=300)
        for name in ("PENTA_BUILD", "PENTA_LIBRARY", "PENTA_DEVICE", "PYTHONPATH"):  # the wheel has all that it needs
            environment.pop(name, None)
        for program in ("inside.py", "debugging.py", "offered.py"):
            subprocess.run([python, os.path.join(PROGRAMS, program)], check=True, env=environment, cwd=work, timeout=300)
        blocks = re.findall(r"^```python\n(.*?)^```", open(os.path.join(ROOT, "docs", "python.md")).read(), re.S | re.M)
        subprocess.run([python, "-c", "\n".join(blocks)], check=True, env=environment, cwd=work, stdout=subprocess.DEVNULL, timeout=300)
        place = os.path.join(work, "cvbc")
        os.mkdir(place)
        subprocess.run([python, os.path.join(ROOT, "tests", "programs", "cvbc", "interface.py"), place, *vectors], check=True,
                       env=environment, cwd=place, timeout=300)
        found = subprocess.run([python, "-c", "import penta, os; print(os.path.dirname(os.path.dirname(penta.__file__)))"],
                               check=True, env=environment, cwd=work, capture_output=True, text=True, timeout=300)
        check_types(work, found.stdout.strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())

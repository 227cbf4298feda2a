#!/usr/bin/env python3
"""The Python packages, installed by pip from the tree into a fresh environment, without network.

    tests/programs/python.py BUILD [VECTORS]         VECTORS: those of cvbc, used where they are present
"""
import os
import re
import sys
import tempfile

from support import ROOT, has_command, run_program, skip


PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python")


def check_types(work, site):
    """The hints hold inside, and a program outside sees them."""
    if not has_command("mypy"):
        print("no mypy: hints were not checked")
        return
    run = lambda *what: run_program("mypy", "--strict", "--cache-dir", os.path.join(work, "mypy"), *what, cwd=site, text=True)
    inside = run("-p", "penta", "-p", "cvbc")
    if inside.returncode:
        sys.exit(inside.stdout)
    outside = run(os.path.join(PROGRAMS, "typed.py")).stdout
    if outside.count("error:") != 1 or 'variable has type "int"' not in outside:
        sys.exit(outside)


def shown(*command, **more):
    print(run_program(*command, needed=True, text=True, **more).stdout, end="")


def main():
    build = os.path.abspath(sys.argv[1])
    vectors = [os.path.abspath(path) for path in sys.argv[2:3]]
    with tempfile.TemporaryDirectory() as work:
        made = run_program(sys.executable, "-m", "venv", os.path.join(work, "env"))
        if made.returncode:
            skip(f"no venv here ({made.stderr.decode()})")
        python = os.path.join(work, "env", "bin", "python")
        environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PENTA_BUILD": build,
                       "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
        run_program(python, "-m", "pip", "install", "-q", os.path.join(ROOT, "bindings", "python"), needed=True, env=environment)
        for name in ("PENTA_BUILD", "PENTA_LIBRARY", "PENTA_DEVICE", "PYTHONPATH"):  # the wheel has all that it needs
            environment.pop(name, None)
        for program in ("inside.py", "debugging.py", "offered.py"):
            shown(python, os.path.join(PROGRAMS, program), env=environment, cwd=work)
        blocks = re.findall(r"^```python\n(.*?)^```", open(os.path.join(ROOT, "docs", "python.md")).read(), re.S | re.M)
        run_program(python, "-c", "\n".join(blocks), needed=True, env=environment, cwd=work)
        place = os.path.join(work, "cvbc")
        os.mkdir(place)
        shown(python, os.path.join(ROOT, "tests", "programs", "cvbc", "interface.py"), place, *vectors, env=environment, cwd=place)
        found = run_program(python, "-c", "import penta, os; print(os.path.dirname(os.path.dirname(penta.__file__)))", needed=True,
                            env=environment, cwd=work, text=True)
        check_types(work, found.stdout.strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())

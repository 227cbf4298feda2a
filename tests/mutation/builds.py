"""Builds of a copy of the tree, and the tests that run in them.

    build/mutate/tree      the copy; ../shared of the tree is beside it
    build/mutate/reached   a build that notes which code each test reaches
    build/mutate/plain     a build without, whose copies (worker1, worker2 ...) have one object changed"""
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.path.join(ROOT, "build", "mutate")
TREE = os.path.join(HOME, "tree")
REACHED = os.path.join(HOME, "reached")
PLAIN = os.path.join(HOME, "plain")
CASES = os.path.join(TREE, "tests", "cases")
MEMORY_MAX = 6 << 30
RUNNER = os.path.join(TREE, "tests", "tools", "run")

# Tests that need another build, that look at the sources and not at what the code does, that run whole builds,
# and `cases`, of which each case is a test of its own here.
OTHER = re.compile(r"^(cases|cases-switch|source-tree-.*|format|layers|symbols|docs|package|sixth-format|web|grammars|readme|guest-page|"
                   r"demo|doom|coverage|fuzz-seeds|guest-native|guest-csmith|plain-clone.*|cross.*|"
                   r"properties-.*|.*-(asan|tsan))$")


def say(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)


def stopped(text):
    raise SystemExit(f"mutate: {text}")


def checked(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        stopped(f"{' '.join(command)}\n{done.stdout[-4000:]}")
    return done.stdout


def tree_copy(folders):
    """Brings these folders of the copy up to date: files that are the same keep their time, so that little is built again.
    Returns the names of the files that changed."""
    files = checked(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders], cwd=ROOT).split("\0")
    kept, new = set(), []
    for name in filter(None, files):
        source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
        if not os.path.isfile(source):
            continue
        kept.add(name)
        if os.path.exists(copy):
            with open(source, "rb") as a, open(copy, "rb") as b:
                if a.read() == b.read():
                    continue
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(source, copy)
        new.append(name)
    for root in folders or ["."]:
        for folder, _, names in os.walk(os.path.join(TREE, root)):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, TREE) not in kept and "__pycache__" not in path:
                    os.remove(path)
    shared, link = os.path.realpath(os.path.join(ROOT, "..", "shared")), os.path.join(HOME, "shared")
    if os.path.isdir(shared) and not os.path.islink(link):
        os.symlink(shared, link)
    return new


def configured(build, flags, *link):
    mold = ["-fuse-ld=mold"] if shutil.which("mold") else []
    linker = " ".join([*mold, *link])
    checked(["cmake", "-S", TREE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang",
             f"-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG {flags}".strip(), f"-DCMAKE_EXE_LINKER_FLAGS={linker}",
             f"-DCMAKE_SHARED_LINKER_FLAGS={linker}", f"-DCMAKE_MODULE_LINKER_FLAGS={linker}"])


def reached_build():
    """Each block of code has a byte; reached.c writes them down at the end of a process."""
    note = os.path.join(HOME, "reached.o")
    checked(["clang", "-O1", "-fPIC", "-D_GNU_SOURCE", "-c", os.path.join(TREE, "tests", "mutation", "reached.c"),
             "-o", note])
    configured(REACHED, "-gline-tables-only -fsanitize-coverage=bb,no-prune,inline-8bit-counters,pc-table", note)
    # What is linked without the flags of CMake, as the archive for compiled programs, is left out here.
    subprocess.run(["ninja", "-C", REACHED, "-k", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not os.path.exists(os.path.join(REACHED, "bin", "penta")):
        stopped(f"no build in {REACHED}: run ninja there")


def plain_build():
    configured(PLAIN, "")
    checked(["ninja", "-C", PLAIN])


def prepare(tests_only):
    """The copy and its builds as the tree is now; with tests_only, all but tests/ stays as it was."""
    os.makedirs(TREE, exist_ok=True)
    new = tree_copy(["tests"] if tests_only else [])
    complete = os.path.join(HOME, "complete")
    if all(name.endswith(".test") for name in new) and os.path.exists(complete):
        return
    say(f"building: {len(new)} files changed")
    if os.path.exists(complete):
        os.remove(complete)
    if any(not name.startswith("tests/") for name in new) and os.path.exists(os.path.join(HOME, "reach.pickle")):
        os.remove(os.path.join(HOME, "reach.pickle"))  # lines have moved
    plain_build()
    reached_build()
    for name in os.listdir(HOME):
        if name.startswith("worker"):
            shutil.rmtree(os.path.join(HOME, name))
    open(complete, "w", encoding="utf-8").close()


class Test:
    """A test of CTest or one case. `modules` are the programs and libraries of the build that it runs."""

    def __init__(self, name, command, environment, sources):
        self.name, self.command, self.environment = name, command, environment
        digest = hashlib.sha256(repr(command).replace(HOME, "").encode())
        for path in sources:
            with open(path, "rb") as file:
                digest.update(file.read())
        self.stamp = digest.hexdigest()[:16]
        self.is_case = name.startswith("case ")


def test_sources(command):
    """The files of the tree that a test is made of, as far as its command tells."""
    found = [word for word in command if word.startswith(TREE) and os.path.isfile(word)]
    found += [os.path.join(TREE, word) for word in command if os.path.isfile(os.path.join(TREE, word))]
    program = os.path.basename(command[0])
    for folder, _, names in os.walk(os.path.join(TREE, "tests", "units")):
        found += [os.path.join(folder, n) for n in names
                  if n.endswith(".c") and program in (n[:-2], n[:-2] + "_test", n[:-2] + "_units", n[:-3] + "_units")]
    return sorted(set(found))


def tests_all():
    """Every test, with commands for the build PLAIN."""
    found = []
    document = json.loads(checked(["ctest", "--test-dir", PLAIN, "--show-only=json-v1"]))
    for test in document["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if OTHER.match(test["name"]) or "long" in properties.get("LABELS", []) or "command" not in test:
            continue
        environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        found.append(Test(test["name"], test["command"], environment, test_sources(test["command"])))
    for folder, _, names in sorted(os.walk(CASES)):
        if os.path.basename(folder) == "ssa":
            continue  # those are for ssa_passes
        for name in sorted(names):
            if name.endswith(".test"):
                path = os.path.join(folder, name)
                found.append(Test("case " + os.path.relpath(path, CASES)[:-5],
                                  ["python3", RUNNER, "--penta", os.path.join(PLAIN, "bin", "penta"), path], {}, [path]))
    return found


def command_in(build, words):
    return [w.replace(PLAIN, build) for w in words]


def limits_set(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_bounded(command, environment, seconds, wall, stop_at=None):
    """(exit code, processor seconds of it and its children, what it printed). A process may use `seconds` of processor time;
    `wall` is for tests that wait for ever. Ends early at a line that begins with `stop_at`."""
    process = subprocess.Popen(command, cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment},
                               start_new_session=True, preexec_fn=lambda: limits_set(int(seconds) + 1))
    os.set_blocking(process.stdout.fileno(), False)
    printed, end, code = b"", time.monotonic() + wall, None
    while True:
        try:
            part = os.read(process.stdout.fileno(), 65536)
        except BlockingIOError:
            part = None
        if part:
            printed = (printed + part)[-200000:]
            if stop_at and any(line.startswith(stop_at) for line in printed.split(b"\n")[:-1]):
                code = 1
                break
            continue
        if part == b"" or process_ended(process):
            break
        if time.monotonic() > end:
            code = "time"
            break
        time.sleep(0.01)
    if code is not None:
        os.killpg(process.pid, signal.SIGKILL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.returncode if code is None else code, used.ru_utime + used.ru_stime, printed.decode(errors="replace")


def process_ended(process):
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

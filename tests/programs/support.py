"""Shared by the test programs: commands that end, checks and their counts, files and folders, servers, a pseudo-terminal.

PENTA is the first argument of a test: the tool, or for tests of a build its folder."""
import fcntl
import json
import mmap
import os
import pty
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import waiting

PENTA = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENGINES = ("interp", "jit", "both")
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
sys.dont_write_bytecode = True
import schemas
from commands import Commands

SANITIZED = EDITS_LINES = False
COMMANDS = None
SUFFIXES = {".casm": ".coil", ".cvasm": ".cvbc", ".ino": ".cvbc", ".kasm": ".kblob", ".pvmasm": ".polkavm", ".tasm": ".tvmr"}
if os.path.isfile(PENTA):
    with open(PENTA, "rb") as program, mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as code:
        SANITIZED = code.find(b"__asan_") >= 0
        # Line editing is built in: the program names the library, or has what its archive has.
        EDITS_LINES = code.find(b"libedit") >= 0 or code.find(b"/.editrc") >= 0
    COMMANDS = Commands(PENTA)


# ---- commands ----

def run_program(*words, data=None, seconds=None, needed=False, **more):
    """Runs any program, whose input is `data` or nothing. One that hangs is an error; one that has used `seconds` of
    processor time is ended; the test ends where one that is `needed` fails."""
    if data is not None:
        more["input"] = data
    else:
        more.setdefault("stdin", subprocess.DEVNULL)
    if "stdout" not in more:
        more["capture_output"] = True
    if seconds:
        more["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    done = subprocess.run(words, timeout=300, **more)
    if words[0] == PENTA:
        schemas.answer_check(words, done.stdout.encode() if isinstance(done.stdout, str) else done.stdout)
    check(not needed or done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def penta(*args, **more):
    """A command of the tool, always as a process of its own."""
    return run_program(PENTA, *args, **more)


def call(*args, data=None, env=None, text=False, **more):
    """A command of the tool: a process of its own, as users have it, or with a sanitizer one process for
    all, which takes a twentieth of the time."""
    env = {"NO_COLOR": "", **(env or {})}
    if SANITIZED and not more:
        return COMMANDS.call(*args, data=data, env=env, text=text)
    return penta(*args, data=data, text=text, env={**os.environ, **env}, **more)


def exits(code, *args, **more):
    done = call(*args, **more)
    check(done.returncode == code,
          f"penta {' '.join(args)}: exit {done.returncode}, expected {code}\n{done.stderr.decode()}")
    check(b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr.decode())
    return done


def assembled(source, text, *options, out=None, command="asm"):
    """The path of a program that a test needs, made from a text, which is the file `source` then; the suffixes are those
    of the format."""
    stem, kind = os.path.splitext(source)
    out = out or stem + SUFFIXES[kind]
    penta(command, write(source, text), "-o", out, *options, needed=True)
    return out


def has_command(name):
    return run_program("sh", "-c", f"command -v {name}").returncode == 0


# ---- checks ----

class Counts:
    passed = failed = 0


def expect(good, *what):
    """Counts a check, and prints one that does not hold; the test goes on."""
    if good:
        Counts.passed += 1
    else:
        Counts.failed += 1
        print("FAIL", *what)
    return bool(good)


def equal(what, got, expected):
    return expect(got == expected, f"{what}:\n  expected {expected!r}\n  got      {got!r}"[:3000])


def check(condition, message):
    """What a function test_* needs: it ends where this does not hold."""
    if not condition:
        raise AssertionError(message)


def summary(note=""):
    """Prints the counts; gives the exit status. A test that checks nothing fails."""
    if COMMANDS:
        COMMANDS.close()
    print(f"{Counts.passed} passed, {Counts.failed} failed{note}")
    return 1 if Counts.failed or not Counts.passed else 0


def skip(why):
    print(f"{why}: skipped")
    sys.exit(77)


class Skipped(Exception):
    pass


def tests_of(names):
    """The functions test_* of a module, in its order."""
    return [test for name, test in names.items() if name.startswith("test_")]


def in_one_folder(tests):
    """Runs these functions, which count what they expect, in one temporary folder; gives the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in tests:
            test()
        os.chdir(ROOT)
    return summary()


def main(tests, prepare=lambda: None):
    """Runs each function test_* in a folder of its own, after `prepare` has filled it; each counts once."""
    skipped = 0
    for test in sorted(tests_of(tests), key=lambda test: test.__name__):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            prepare()
            try:
                test()
                Counts.passed += 1
            except Skipped as why:
                skipped += 1
                print(f"{test.__name__} skipped: {why}")
            except (AssertionError, subprocess.TimeoutExpired, TimeoutError, EOFError) as error:
                expect(False, f"{test.__name__}: {error}")
            os.chdir("/")
    status = summary()
    return 0 if skipped and not Counts.failed else status


# ---- files ----

def write(path, data):
    """Writes text or bytes; gives the path."""
    with open(path, "wb") as out:
        out.write(data.encode() if isinstance(data, str) else data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def document(data):
    """One JSON document, read by a parser that refuses a repeated member."""
    def unique(pairs):
        names = [name for name, _ in pairs]
        check(len(names) == len(set(names)), f"a member twice in {names}")
        return dict(pairs)
    return json.loads(data, object_pairs_hook=unique)


def tracked_files(*folders):
    """The files of the tree below these folders, also of a release without git."""
    done = run_program("git", "ls-files", "-co", "--exclude-standard", *folders, cwd=ROOT, text=True)
    if done.returncode == 0 and done.stdout:
        return done.stdout.split("\n")[:-1]
    return [os.path.relpath(os.path.join(folder, name), ROOT) for top in folders or ("",)
            for folder, _, names in os.walk(os.path.join(ROOT, top)) for name in names]


# ---- the cases of tests/cases ----

def case_runner():
    """tests/tools/run as a module."""
    loader = SourceFileLoader("run", os.path.join(ROOT, "tests/tools/run"))
    module = module_from_spec(spec_from_loader("run", loader))
    loader.exec_module(module)
    return module


def dump_cases(folder):
    """Writes the file of every case there, FORMAT-NAME.bin."""
    run_program(sys.executable, os.path.join(ROOT, "tests/tools/run"), "--penta", PENTA, "--dump", folder, needed=True)


# ---- processes that talk ----

class Server:
    """A command that listens on a port of this machine: where, and its token, as it says."""

    def __init__(self, *words, env=None, says="stdout"):
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=env)
        line = waiting.line_next(self.process, getattr(self.process, says))
        found = re.fullmatch(r"(?:http://|.*listening on )([\d.]+):(\d+)(?:/|,? token )([0-9a-f]{32})/?\n", line)
        if not found:
            self.process.kill()
        check(found, f"no address but {line!r}")
        self.host, self.port, self.token = found[1], int(found[2]), found[3]
        check(self.host == "127.0.0.1", self.host)

    def connect(self):
        return socket.create_connection((self.host, self.port))

    def ended(self):
        """Waits for its end; gives the exit code."""
        self.process.communicate(timeout=20)
        return self.process.returncode


class Terminal:
    """A program on a pseudo-terminal: everything that it prints there is in `text`. Its width is not known unless `columns` says it."""

    def __init__(self, *command, env=None, columns=0):
        try:
            self.pid, self.fd = pty.fork()
        except OSError as error:
            raise Skipped(f"no pseudo-terminal ({error.strerror})")
        if not self.pid:
            if columns:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.environ.update({"TERM": "xterm", "NO_COLOR": "", "COLUMNS": "80", "LINES": "24", **(env or {})})
            os.execv(command[0], command)
        self.text = b""

    def read(self, seconds):
        """Reads what comes within this time; False: the program has ended."""
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.text += os.read(self.fd, 65536)
            except OSError:
                return False
        return True

    def until(self, mark, count=1, seconds=waiting.SECONDS):
        deadline = time.monotonic() + seconds
        while self.text.count(mark) < count and time.monotonic() < deadline and self.read(0.2):
            pass
        check(self.text.count(mark) >= count, (mark, self.text))

    def write(self, text):
        os.write(self.fd, text)

    def end(self):
        """Reads to the end and returns the exit code. A program that does not end is killed."""
        deadline = time.monotonic() + waiting.SECONDS
        while self.read(1):
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

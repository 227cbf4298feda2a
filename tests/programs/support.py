"""Shared by the tests that call the tool: calling it, checking, a pseudo-terminal."""
import mmap
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time

import waiting

PENTA = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
from commands import Commands

with open(PENTA, "rb") as program, mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as code:
    SANITIZED = code.find(b"__asan_") >= 0
    # Line editing is built in: the program names the library, or has what its archive has.
    EDITS_LINES = code.find(b"libedit") >= 0 or code.find(b"/.editrc") >= 0
COMMANDS = Commands(PENTA)


def call(*args, data=None, env=None, text=False, **more):
    """A command of the tool: a process of its own, as users have it, or with a sanitizer one process for
    all, which takes a twentieth of the time."""
    env = {"NO_COLOR": "", **(env or {})}
    if SANITIZED and not more:
        return COMMANDS.call(*args, data=data, env=env, text=text)
    return subprocess.run([PENTA, *args], input=data, capture_output=True, timeout=300, text=text,
                          env={**os.environ, **env}, **more)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def exits(code, *args, **more):
    done = call(*args, **more)
    check(done.returncode == code,
          f"penta {' '.join(args)}: exit {done.returncode}, expected {code}\n{done.stderr.decode()}")
    check(b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr.decode())
    return done


def within(seconds, *args):
    """A command as a process of its own, which is ended when it has used so much processor time."""
    limit = (seconds, seconds + 1)
    return subprocess.run([PENTA, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))


def source(name, text):
    with open(name, "w") as out:
        out.write(text)
    return name


class Skipped(Exception):
    pass


class Terminal:
    """A program on a pseudo-terminal: everything that it prints there is in `text`."""

    def __init__(self, *command, env=None):
        try:
            self.pid, self.fd = pty.fork()
        except OSError as error:
            raise Skipped(f"no pseudo-terminal ({error.strerror})")
        if not self.pid:
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


def main(tests, prepare=lambda: None):
    """Runs each function test_* in a folder of its own, after `prepare` has filled it."""
    failed = passed = 0
    for name, test in sorted(tests.items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            prepare()
            try:
                test()
                passed += 1
            except Skipped as why:
                print(f"{name} skipped: {why}")
            except (AssertionError, subprocess.TimeoutExpired, TimeoutError, EOFError) as error:
                failed += 1
                print(f"FAIL {name}: {error}")
            os.chdir("/")
    COMMANDS.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0

"""Calls of the tool, without a process for each: command_server.c is loaded into the tool and runs many commands in
one process. The first command of each verb is a process of its own, as users have it."""
import os
import select
import signal
import subprocess
import tempfile

import schemas


def preload_variable(path):
    """The variable that names a library to load into the program: a script that starts the tool under an emulator has one
    of its own, since LD_PRELOAD is for the emulator, too. None: a script that knows of no library."""
    with open(path, "rb") as file:
        start = file.read(1000)
    if start.startswith(b"\x7fELF"):
        return "LD_PRELOAD"
    return "PENTA_PRELOAD" if b"$PENTA_PRELOAD" in start else None


class Commands:
    def __init__(self, penta):
        self.penta = os.path.abspath(penta)
        build = os.path.dirname(os.path.dirname(self.penta))
        self.server = os.path.join(build, "lib", "libcommand_server.so")
        self.variable = preload_variable(self.penta)
        if not os.path.exists(self.server) or not self.variable:
            self.server = None
        self.process, self.verbs = None, set()
        self.folder = tempfile.TemporaryDirectory()
        self.files = [os.path.join(self.folder.name, name) for name in ("stdin", "stdout", "stderr")]

    def start(self):
        before = os.environ.get(self.variable)
        libraries = f"{self.server}:{before}" if before else self.server
        self.process = subprocess.Popen([self.penta], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True, env={**os.environ, self.variable: libraries})
        if self.answer_line(30) != b"ready\n":
            raise SystemExit(f"{self.penta} does not load {self.server}: build both again")

    def answer_line(self, seconds):
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            raise subprocess.TimeoutExpired(self.penta, seconds)
        return self.process.stdout.readline()

    def answer(self, words, timeout):
        lines = [str(len(words))] + [os.fsencode(word).hex() for word in words]
        self.process.stdin.write(("\n".join(lines) + "\n").encode())
        self.process.stdin.flush()
        line = self.answer_line(timeout)
        assert line, f"the command server ended at {words}"
        return int(line)

    def call(self, *args, data=None, env=None, cwd=None, timeout=300, text=False):
        """What subprocess.run gives. `data` is standard input, `env` what is added to the environment."""
        verb = next((word for word in args if not word.startswith("-")), None)
        if not self.server or verb not in self.verbs:
            self.verbs.add(verb)
            return self.call_alone(args, data, env, cwd, timeout, text)
        if not self.process:
            self.start()
        given, out, err = self.files
        if data is None:
            given = os.devnull
        else:
            with open(given, "wb") as file:
                file.write(data.encode() if text else data)
        variables = [f"{name}={value}" for name, value in (env or {}).items()]
        code = self.answer([cwd or os.getcwd(), given, out, err, *variables, "", "penta", *args], timeout)
        with open(out, "rb") as file, open(err, "rb") as errors:
            out, err = file.read(), errors.read()
        return self.completed(args, code, out, err, text)

    def call_alone(self, args, data, env, cwd, timeout, text):
        given = {"stdin": subprocess.DEVNULL}
        if data is not None:
            given = {"input": data.encode() if text else data}
        done = subprocess.run([self.penta, *args], capture_output=True, timeout=timeout, cwd=cwd,
                              env={**os.environ, **(env or {})}, **given)
        return self.completed(args, done.returncode, done.stdout, done.stderr, text)

    @staticmethod
    def completed(args, code, out, err, text):
        assert b"Sanitizer" not in err and b"runtime error: " not in err, \
            f"penta {' '.join(args)}: {err.decode(errors='replace')}"
        schemas.answer_check(args, out)
        if text:
            out, err = out.decode(), err.decode()
        return subprocess.CompletedProcess(args, code, out, err)

    def close(self):
        """Ends the server, which fails if any command has left memory behind."""
        if self.process:
            self.process.stdin.close()
            assert self.process.wait(60) == 0, "the command server failed: see what it printed"
            self.process = None

"""Calls of the tool, without a process for each: by the command_server beside it, where one is built."""
import os
import select
import signal
import subprocess
import tempfile


class Commands:
    def __init__(self, penta):
        self.penta = os.path.abspath(penta)
        self.server = os.path.join(os.path.dirname(self.penta), "command_server")
        self.process = None
        self.folder = tempfile.TemporaryDirectory()
        self.files = [os.path.join(self.folder.name, name) for name in ("stdin", "stdout", "stderr")]

    def start(self):
        self.process = subprocess.Popen([self.server], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def answer(self, words, timeout):
        lines = [str(len(words))] + [os.fsencode(word).hex() for word in words]
        self.process.stdin.write(("\n".join(lines) + "\n").encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            raise subprocess.TimeoutExpired(words, timeout)
        line = self.process.stdout.readline()
        assert line, f"the command server ended at {words}"
        return int(line)

    def call(self, *args, data=None, env=None, cwd=None, timeout=300, text=False):
        """What subprocess.run gives. `data` is standard input, `env` what is added to the environment."""
        if not os.path.exists(self.server):
            given = {"input": data} if data is not None else {"stdin": subprocess.DEVNULL}
            return subprocess.run([self.penta, *args], capture_output=True, timeout=timeout, text=text, cwd=cwd,
                                  env={**os.environ, **(env or {})}, **given)
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
        assert b"Sanitizer" not in err and b"runtime error: " not in err, \
            f"penta {' '.join(args)}: {err.decode(errors='replace')}"
        if text:
            out, err = out.decode(), err.decode()
        return subprocess.CompletedProcess(args, code, out, err)

    def close(self):
        """Ends the server, which fails if any command has left memory behind."""
        if self.process:
            self.process.stdin.close()
            assert self.process.wait() == 0, "the command server failed: see what it printed"
            self.process = None

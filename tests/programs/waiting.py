"""Waits that end: what does not come within a deadline fails the test that waits for it."""
import os
import select
import socket
import time

SECONDS = 60  # far more than any answer takes, also on a busy machine

socket.setdefaulttimeout(SECONDS)


def bytes_next(descriptor, deadline, what):
    """The next bytes from a pipe or socket; none at its end."""
    if not select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))[0]:
        raise TimeoutError(f"{what}: nothing came for {SECONDS} s")
    return os.read(descriptor, 65536)


def handler_set(process, number):
    """Waits until a process handles a signal."""
    deadline = time.monotonic() + SECONDS
    while True:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            caught = int(next(line for line in status if line.startswith("SigCgt")).split()[1], 16)
        if caught >> (number - 1) & 1:
            return
        if time.monotonic() > deadline:
            process.kill()
            raise TimeoutError(f"{process.args}: no handler of signal {number} in {SECONDS} s")
        time.sleep(0.01)


def line_next(process, stream):
    """The next line that a process writes to a pipe of which nothing was read through Python's buffer. A process that
    writes none is ended."""
    line, deadline = b"", time.monotonic() + SECONDS
    while not line.endswith(b"\n"):
        if not select.select([stream.fileno()], [], [], max(deadline - time.monotonic(), 0))[0]:
            process.kill()
            raise TimeoutError(f"{process.args}: no line in {SECONDS} s, only {line!r}")
        piece = os.read(stream.fileno(), 1)
        if not piece:
            break
        line += piece
    return line.decode()

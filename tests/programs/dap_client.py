"""A client of the Debug Adapter Protocol for tests, over the pipes of a process or a socket."""
import json
import subprocess
import time

import waiting


class Adapter:
    class Refused(Exception):
        pass

    def __init__(self, command=None, stream=None):
        self.process = None
        if command:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.descriptor = (stream or self.process.stdout).fileno()
        self.writer = stream or self.process.stdin
        self.seq, self.events, self.unread = 0, [], b""

    def send(self, message):
        data = json.dumps(message).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.writer.flush()

    def receive(self):
        deadline = time.monotonic() + waiting.SECONDS
        while b"\r\n\r\n" not in self.unread:
            self.read_more(deadline)
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(self.unread) < length:
            self.read_more(deadline)
        body, self.unread = self.unread[:length], self.unread[length:]
        return json.loads(body)

    def read_more(self, deadline):
        try:
            piece = waiting.bytes_next(self.descriptor, deadline, "the adapter")
        except TimeoutError:
            if self.process:
                self.process.kill()
            raise
        if not piece:
            raise EOFError("the adapter has ended")
        self.unread += piece

    def ask(self, command, **arguments):
        self.seq += 1
        seq = self.seq
        self.send({"seq": seq, "type": "request", "command": command, "arguments": arguments})
        while True:
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)
                continue
            assert message["request_seq"] == seq, message
            if not message["success"]:
                raise Adapter.Refused(message["message"])
            return message.get("body")

    def event(self, name):
        """The next event of this name; others before it are dropped."""
        while True:
            while self.events:
                message = self.events.pop(0)
                if message["event"] == name:
                    return message.get("body", {})
            message = self.receive()
            assert message["type"] == "event", message
            self.events.append(message)

    def close(self):
        """Leaves, and gives the exit code of the adapter."""
        self.ask("disconnect")
        if not self.process:
            return None
        self.process.stdin.close()
        code = self.process.wait(timeout=20)
        self.process.stdout.close()
        return code

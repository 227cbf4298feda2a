#!/usr/bin/env python3
"""penta gdbserver with the real gdb: the actions of debugger/*.actions, through gdb's own commands where
gdb can ask for them and through `monitor` where it cannot, give the answers of the table; and what the
table does not have: tokens, Ctrl-C, memory maps, the end of a program.

    gdbserver.py PENTA [--asked]      --asked prints what was asked in which way
"""
import json
import os
import re
import select
import shutil
import socket
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import debugger  # noqa: E402
from support import PENTA, Server, expect, run_program, skip, summary  # noqa: E402

WAYS = {"step": "stepi", "continue": "continue", "back": "reverse-stepi", "reverse": "reverse-continue"}


# ---- inside gdb ----

class Client:
    def __init__(self, gdb):
        self.gdb = gdb
        self.numbers = []   # of the table's breakpoints: ("gdb" or "monitor", number)
        self.asked = {"gdb": 0, "monitor": 0}
        self.event = None
        gdb.events.stop.connect(self.stopped)

    def stopped(self, event):
        self.event = event

    def why(self):
        """Of the last stop; the server knows of breakpoints that gdb did not set."""
        if isinstance(self.event, self.gdb.BreakpointEvent):
            words = {self.gdb.BP_BREAKPOINT: "break", self.gdb.BP_READ_WATCHPOINT: "read",
                     self.gdb.BP_ACCESS_WATCHPOINT: "accessed"}
            return words.get(self.event.breakpoint.type, "changed")
        word = self.do("monitor where").split()[0].rstrip(":")
        return "at" if word == "step" else word

    def do(self, command):
        return self.gdb.execute(command, to_string=True)

    def monitor(self, command):
        """Through the server's own commands, after which gdb has to look again."""
        text = self.do("monitor " + command)
        self.do("maintenance flush register-cache")
        return text

    def value(self, expression):
        return int(self.gdb.parse_and_eval(expression)) % 2 ** 64

    def expression(self, text):
        """As gdb writes it; None: it has something that gdb cannot know."""
        if "%" in text or "/" in text:
            return None
        sizes = {"8": "char", "16": "short", "32": "int", "64": "long"}
        text = re.sub(r"\b([ui])(8|16|32|64)\[([^]]*)\]",
                      lambda m: f"*({'un' * (m[1] == 'u')}signed {sizes[m[2]]}*)({m[3]})", text)
        registers = self.do("maintenance print raw-registers")
        for name in set(re.findall(r"\b[A-Za-z_]\w*", text)) - {"unsigned", "signed", *sizes.values()}:
            if not re.search(rf"^ *{name} ", registers, re.M):
                return None
            text = re.sub(rf"\b{name}\b", "$" + name, text)
        return text

    def place(self):
        return f"step {self.value('$executed')} pc {self.value('$pc')}"

    def motion(self, verb, rest):
        ended = self.do("monitor where").startswith("halt") and verb in ("continue", "step")
        if verb in WAYS and not ended:   # a run after the end would end gdb's program
            self.asked["gdb"] += 1
            self.do(f"{WAYS[verb]} {rest}")
            why = self.why()
            if verb in ("step", "back") and rest in ("", "1") and why == "break":
                why = "at"   # gdb names the breakpoint that a single step leads to
            if verb == "reverse" and why == "changed" and isinstance(self.event, self.gdb.BreakpointEvent):
                self.do("reverse-continue")   # gdb stops before the instruction that led here, the table does not
                why = self.why()
        else:
            self.asked["monitor"] += 1
            text = self.monitor(f"{verb} {rest}")
            if not re.search(r"^step \d+  pc", text, re.M):
                return "error: " + text.strip()
            why = text.split()[0].rstrip(":")
            why = "at" if why == "step" else why
        return f"{why} {self.place()}"

    def point(self, verb, rest):
        what, _, condition = rest.partition(" if ")
        if verb == "break":
            told = self.do(f"monitor tbreak {what}")
            found = re.match(r"\w+ (\d+) at (\d+)", told)
            if not found:
                return "error: " + told.strip()
            self.do(f"monitor delete {found[1]}")
            place, answer = f"*{found[2]}", f"pc {found[2]}"
        else:
            sizes = {"1": "char", "2": "short", "4": "int", "8": "long"}
            # gdb's watch is for changes; reads are in watches() below, alone: gdb steps over their instruction,
            # and a watch of the server on the same one would stop it there.
            memory = re.fullmatch(r"(\w+):([1248])", what) if verb == "watch" else None
            # gdb can watch registers too, but compares with what they were before `goto`.
            place = f"*({sizes[memory[2]]}*){memory[1]}" if memory else None
            answer = "watched"
        asked = self.expression(condition) if condition else ""
        if place is None or asked is None:
            told = self.do(f"monitor {verb} {rest}")
            self.asked["monitor"] += 1
            number = re.match(r"\w+ (\d+)", told)
            if number:
                self.numbers.append(("monitor", number[1]))
            return answer if number else "error: " + told.strip()
        told = self.do(f"{verb} {place}" + (f" if {asked}" if asked else ""))
        self.asked["gdb"] += 1
        self.numbers.append(("gdb", re.search(r"point (\d+)", told)[1]))
        return answer

    def answer(self, action):
        verb, _, rest = action.partition(" ")
        if verb == "break" or verb in debugger.WATCHES:
            return self.point(verb, rest)
        if verb == "delete":
            way, number = self.numbers[int(rest) - 1]
            self.do(f"delete {number}" if way == "gdb" else f"monitor delete {number}")
            return ""
        if verb in ("print", "set"):
            asked = self.expression(rest)
            if asked and (verb == "print" or not asked.startswith("%")):
                self.asked["gdb"] += 1
                if verb == "print":
                    return self.value(asked)
                self.do("set var " + asked)
                return "set"
            self.asked["monitor"] += 1
            text = self.monitor(action).strip()
            return text or "set"
        if verb in ("frames", "last"):
            self.asked["monitor"] += 1
            text = self.do("monitor backtrace" if verb == "frames" else f"monitor last-write {rest}")
            if verb == "frames":
                return " ".join(re.findall(r"^#\d+  pc (\d+)", text, re.M))
            place = re.match(r"written at step (\d+)  pc (\d+)", text)
            return f"step {place[1]} pc {place[2]}"
        return self.motion(verb, rest)


def inside(gdb):
    client = Client(gdb)
    task = json.load(open(os.environ["PENTA_GDB_TASK"]))
    for setting in ("pagination off", "confirm off", "width 0", "breakpoint always-inserted on"):
        gdb.execute("set " + setting)
    gdb.execute("target remote | " + task["server"], to_string=True)
    answers = []
    for action in task["actions"]:
        try:
            answers.append(client.answer(action))
        except gdb.error as error:
            answers.append("error: " + str(error))
    gdb.execute("kill")
    json.dump({"answers": answers, "asked": client.asked}, open(task["out"], "w"))


# ---- outside ----


def run_gdb(gdb, *arguments, env=None):
    done = run_program(gdb, "-nx", "-batch", *arguments, text=True, env={**os.environ, **(env or {})})
    return done.stdout + done.stderr


def same(wanted, got):
    if isinstance(got, int):   # a value of gdb: compared as a number of 64 bits
        number = {"true": 1, "false": 0}.get(wanted)
        return got == (int(wanted, 0) if number is None else number) % 2 ** 64
    refused = re.fullmatch(r"error: Cannot access memory at address (0x\w+)", got)
    if refused:   # gdb's words for what the table has in the tool's
        return wanted.endswith(f" of memory are at {refused[1]}")
    return wanted.rstrip() == got


def table(gdb, file, asked):
    path = os.path.join(HERE, "debugger", file)
    text = debugger.read(path)
    with tempfile.TemporaryDirectory() as work:
        program, task = debugger.program_of(text, work), os.path.join(work, "task")
        options = " ".join(text["options"])
        json.dump({"server": f"{PENTA} gdbserver {program} {options}", "actions": text["actions"],
                   "out": os.path.join(work, "out")}, open(task, "w"))
        said = run_gdb(gdb, "-x", os.path.abspath(__file__), env={"PENTA_GDB_TASK": task})
        if not expect(os.path.exists(os.path.join(work, "out")), f"{file}: gdb failed: {said}"):
            return
        result = json.load(open(os.path.join(work, "out")))
    expect(len(text["actions"]) == len(text["expected"]) == len(result["answers"]),
           f"{file}: {len(text['actions'])} actions, {len(text['expected'])} expected and {len(result['answers'])} given answers")
    for action, wanted, got in zip(text["actions"], text["expected"], result["answers"]):
        expect(same(wanted, got), f"{file}: {action}\n  wanted {wanted}\n  got    {got}")
    expect(result["asked"]["gdb"] >= 4, f"{file}: too little was asked by gdb itself: {result['asked']}")
    if asked:
        print(file, result["asked"])


SOURCE = """        WRITE64 0x10000, 0x11223344
        WRITE8  0x10008, 5
        HALT
"""
LOOP = """%isa = latest64
%stack_size = 4096
%export "main" = @main
@main:
    a0 = a0 + 1
    jump @main
"""


def serve(*arguments):
    return Server(PENTA, "gdbserver", *arguments, "--listen", "0", says="stderr")


def packet(body):
    return b"$" + body + b"#%02x" % (sum(body) % 256)


def ask(connection, body):
    connection.sendall(packet(body))
    text = b""
    while not re.search(rb"\$[^#]*#..$", text):
        piece = connection.recv(65536)
        if not piece:
            break
        text += piece
    return re.sub(rb"^.*\$([^#]*)#..$", rb"\1", text, flags=re.S)


def tokens(gdb, work):
    program = os.path.join(work, "fill.kasm")
    open(program, "w").write(SOURCE)
    server = serve(program, "--map", "0x10000:64")
    with server.connect() as stranger:
        assert ask(stranger, b"m10000,4") == b"E01"
        assert set(ask(stranger, b"g")) == {ord("0")}
        assert ask(stranger, b"vCont;c") == b"E01" and ask(stranger, b"Z0,1,4") == b"E01"
        assert b"not the token" in bytes.fromhex(ask(stranger, b"qRcmd," + b"token 12".hex().encode()).decode())
        assert b"first give" in bytes.fromhex(ask(stranger, b"qRcmd," + b"registers".hex().encode()).decode())
        assert ask(stranger, b"m10000,4") == b"E01"
        good = ("token " + server.token).encode().hex().encode()
        assert b"welcome" in bytes.fromhex(ask(stranger, b"qRcmd," + good).decode())
        assert ask(stranger, b"m10000,4") == b"00000000"
    server.ended()   # with its client
    server = serve(program, "--map", "0x10000:64")
    strangers = [server.connect() for _ in range(3)]
    with server.connect() as stranger:
        assert b"not the token" in bytes.fromhex(ask(stranger, b"qRcmd," + b"token 12".hex().encode()).decode())
        assert ask(stranger, b"QStartNoAckMode") == b"OK"  # for itself
        assert ask(stranger, b"D") == b"OK"
    with server.connect() as stranger:
        stranger.sendall(packet(b"k"))
        assert stranger.recv(1) in (b"+", b"")
    strangers += [server.connect() for _ in range(40)]
    text = run_gdb(gdb, "-ex", f"target remote 127.0.0.1:{server.port}", "-ex", f"monitor token {server.token}",
                   "-ex", "maintenance flush register-cache", "-ex", "stepi", "-ex", "x/xg 0x10000", "-ex", "info mem",
                   "-ex", "continue", "-ex", "continue")
    server.ended()
    expect("0x10000:\t0x0000000011223344" in text, text)
    expect(re.search(r"0x0*10000 0x0*10040 rw", text), text)
    expect("halt pc=2 steps=3" in text and "exited normally" in text, text)
    for stranger in strangers:
        stranger.close()


def watches(gdb, work):
    """rwatch and awatch, forwards and backwards: gdb stops after the instruction, or before it."""
    program = os.path.join(work, "watch.kasm")
    open(program, "w").write("WRITE8 0x10000, 7\nREAD8 0x10000\nSLEEP 1\nWRITE8 0x10000, 7\nHALT\n")
    server = f"target remote | {PENTA} gdbserver {program} --map 0x10000:64"
    text = run_gdb(gdb, "-ex", server, "-ex", "rwatch *(char*)0x10000", "-ex", "continue", "-ex", "info registers pc",
                   "-ex", "delete", "-ex", "awatch *(char*)0x10000", "-ex", "continue", "-ex", "info registers pc",
                   "-ex", "reverse-continue", "-ex", "info registers pc")
    expect(re.findall(r"^pc +0x(\w+)", text, re.M) == ["2", "4", "3"], text)
    expect("Hardware read watchpoint" in text and text.count("Value = 7") == 3, text)


def interrupts(work):
    """Ctrl-C stops an endless program; a client that goes away ends the server."""
    program = os.path.join(work, "loop.pvmasm")
    open(program, "w").write(LOOP)
    server = serve(program, "--call", "main")
    with server.connect() as client:
        ask(client, b"qRcmd," + ("token " + server.token).encode().hex().encode())
        client.sendall(packet(b"vCont;c"))
        assert not select.select([client], [], [], 0.3)[0] or client.recv(1, socket.MSG_PEEK) == b"+"
        client.sendall(b"\x03")
        text = b""
        while b"#" not in text:
            text += client.recv(4096)
        expect(b"$T02" in text, text)
        client.sendall(packet(b"vCont;c"))
    server.ended()


def main():
    arguments = sys.argv[1:]
    gdb = shutil.which("gdb-multiarch")
    if not gdb:
        skip("no gdb-multiarch")
    for file in sorted(f for f in os.listdir(os.path.join(HERE, "debugger")) if f.endswith(".actions")):
        table(gdb, file, "--asked" in arguments)
    with tempfile.TemporaryDirectory() as work:
        tokens(gdb, work)
        watches(gdb, work)
        interrupts(work)
    return summary()


if "PENTA_GDB_TASK" in os.environ:
    import gdb as the_gdb   # which runs this file
    inside(the_gdb)
elif __name__ == "__main__":
    sys.exit(main())

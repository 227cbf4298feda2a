#!/usr/bin/env python3
"""The same table of debugger actions for a program of each format, through penta debug and penta dap.

A file debugger/FORMAT.actions has the source of a program, the options of its run, actions, and the
answer to each. An action says what is wanted, not how a front end is told, so that another front end
can be held to the same answers. --accept writes the answers that the tool gives now.

    break PLACE [if EXPR]   the pc                 print EXPR   the value
    watch rwatch wwatch awatch WHAT   "watched"    set WHAT = EXPR   "set"
    continue step next finish until back goto reverse answer         why, step and pc
    frames                  the pcs, innermost first                 last WHAT   step and pc
"""
import os
import re
import sys
import tempfile

from dap_client import Adapter
from support import PENTA, equal, expect, penta, summary, write

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debugger")
MARK = "123456789123456789"
MOTIONS = {"continue", "step", "next", "finish", "until", "back", "goto", "reverse", "answer"}
WATCHES = {"watch", "rwatch", "wwatch", "awatch"}
COMMANDS = {"frames": "backtrace", "last": "last-write"}


def read(path):
    sections, name = {}, None
    for line in open(path):
        if line.startswith("-- "):
            head, _, argument = line[3:].strip().partition(" ")
            sections[head], name = [], head
            if argument:
                sections[head + " argument"] = argument
        elif name:
            sections[name].append(line.rstrip("\n"))
    return sections


def program_of(table, folder):
    """The program of a table, made in a folder."""
    name, command, *more = table["source argument"].split()
    write(os.path.join(folder, name), "\n".join(table["source"]) + "\n")
    penta(command, *more, name, "-o", "program", cwd=folder, needed=True)
    return os.path.join(folder, "program")


def normal(action, lines):
    """What the tool printed, as the table has it."""
    verb = action.split()[0]
    text = "\n".join(lines)
    if verb in MOTIONS:
        place = re.search(r"^step (\d+)  pc (\d+)", text, re.M)
        if not place:
            return "error: " + text
        why = lines[0].split()[0].rstrip(":")
        return f"{'at' if why == 'step' else why} step {place[1]} pc {place[2]}"
    if verb == "break":
        place = re.match(r"break \d+ at (\d+)", text)
        return f"pc {place[1]}" if place else "error: " + text
    if verb in WATCHES:
        return "watched" if text.startswith(verb + " ") else "error: " + text
    if verb == "last":
        place = re.match(r"written at step (\d+)  pc (\d+)", text)
        return f"step {place[1]} pc {place[2]}" if place else "error: " + text
    if verb == "frames":
        return " ".join(re.findall(r"^#\d+  pc (\d+)", text, re.M))
    if verb == "set" and not text:
        return "set"
    return text


def through_tool(program, options, actions):
    script = ""
    for action in actions:
        verb, _, rest = action.partition(" ")
        script += f"{COMMANDS.get(verb, verb)} {rest}\nprint {MARK}\n"
    done = penta("debug", program, *options, data=f"print {MARK}\n" + script, text=True)
    if done.stderr:
        return ["error: " + done.stderr]
    parts = done.stdout.split(MARK + "\n")[1:-1]
    return [normal(a, part.splitlines()) for a, part in zip(actions, parts)]


class Through:
    """The actions as requests of the Debug Adapter Protocol."""

    def __init__(self, program, source, options):
        self.source = source
        self.adapter = Adapter([PENTA, "dap"])
        self.adapter.ask("initialize", adapterID="penta")
        self.adapter.ask("launch", program=program, options=options, stopOnEntry=True, stopOnExit=True)
        self.adapter.event("initialized")
        self.adapter.ask("configurationDone")
        self.adapter.event("stopped")
        self.lists = {"setBreakpoints": [], "setFunctionBreakpoints": [], "setInstructionBreakpoints": [], "setDataBreakpoints": []}
        self.points, self.count = {}, 0  # by the number that penta debug would give
        self.kinds = {}                  # by the id of the adapter

    def send(self, request):
        """All breakpoints of a kind again; the answer to the last."""
        items = [item for item, _ in self.lists[request]]
        extra = {"source": {"path": self.source}} if request == "setBreakpoints" else {}
        answers = self.adapter.ask(request, breakpoints=items, **extra)["breakpoints"]
        for (_, kind), answer in zip(self.lists[request], answers):
            if answer["verified"]:
                self.kinds[answer["id"]] = kind
        return answers[-1] if answers else None

    def add(self, request, item, kind):
        entry = (item, kind)
        self.lists[request].append(entry)
        answer = self.send(request)
        if not answer["verified"]:
            self.lists[request].remove(entry)
            return None, "error: " + answer["message"]
        self.count += 1
        self.points[self.count] = (request, entry)
        return answer, None

    def point(self, verb, rest):
        place, _, condition = rest.partition(" if ")
        more = {"condition": condition} if condition else {}
        if verb in WATCHES:
            access = {"watch": {}, "rwatch": {"accessType": "read"}, "wwatch": {"accessType": "write"},
                      "awatch": {"accessType": "readWrite"}}[verb]
            word = {"watch": "changed", "rwatch": "read", "wwatch": "written", "awatch": "accessed"}[verb]
            _, error = self.add("setDataBreakpoints", {"dataId": place, **access, **more}, word)
            return error or "watched"
        if ":" in place:
            item, request = {"line": int(place.split(":")[1])}, "setBreakpoints"
        elif place.isdigit():
            item, request = {"instructionReference": place}, "setInstructionBreakpoints"
        else:
            item, request = {"name": place}, "setFunctionBreakpoints"
        answer, error = self.add(request, {**item, **more}, "break")
        return error or f"pc {int(answer['instructionReference'], 16)}"

    def repl(self, text):
        return self.adapter.ask("evaluate", expression=text, context="repl")["result"]

    def motion(self, verb, rest):
        requests = {"continue": "continue", "step": "stepIn", "next": "next", "finish": "stepOut", "back": "stepBack",
                    "reverse": "reverseContinue"}
        for _ in range(int(rest or 1) if verb in ("step", "back") else 1):
            if verb in requests:
                self.adapter.ask(requests[verb], threadId=1, granularity="instruction")
            else:
                self.repl(f"{verb} {rest}")
            stop = self.adapter.event("stopped")
            if stop["reason"] not in ("step", "goto"):
                break
        why = stop.get("description", "at").split()[0]
        for number in stop.get("hitBreakpointIds", []):
            why = self.kinds[number]
        return f"{why} {self.repl('where').replace('  ', ' ')}"

    def frames(self):
        frames = self.adapter.ask("stackTrace", threadId=1)["stackFrames"]
        return " ".join(str(int(f["instructionPointerReference"], 16)) for f in frames)

    def act(self, action):
        verb, _, rest = action.partition(" ")
        if verb == "break" or verb in WATCHES:
            return self.point(verb, rest)
        if verb in MOTIONS:
            return self.motion(verb, rest)
        if verb == "frames":
            return self.frames()
        if verb == "delete":
            request, entry = self.points.pop(int(rest))
            self.lists[request].remove(entry)
            self.send(request)
            return ""
        if verb == "last":
            place = re.match(r"written at (step \d+)  (pc \d+)", self.repl("last-write " + rest))
            return f"{place[1]} {place[2]}"
        if verb == "set":
            what, _, value = rest.partition("=")
            self.adapter.ask("setExpression", expression=what.strip(), value=value)
            return "set"
        return self.adapter.ask("evaluate", expression=rest, context="watch")["result"]


def through_dap(program, source, options, actions):
    keyed = {}
    for key, value in zip(options[::2], options[1::2]):
        keyed.setdefault(key.lstrip("-"), []).append(value)
    through = Through(program, source, keyed)
    answers = []
    for action in actions:
        try:
            answers.append(through.act(action))
        except Adapter.Refused as refused:
            error = "error: " if action.split()[0] in MOTIONS else ""
            answers.append(error + str(refused))
    through.adapter.close()
    return answers


def main():
    accept = "--accept" in sys.argv
    for file in sorted(f for f in os.listdir(HERE) if f.endswith(".actions")):
        path = os.path.join(HERE, file)
        table = read(path)
        name = table["source argument"].split()[0]
        with tempfile.TemporaryDirectory() as work:
            program = program_of(table, work)
            options = [word for line in table["options"] for word in line.split()]
            answers = through_tool(program, options, table["actions"])
            adapter = through_dap(program, os.path.join(work, name), options, table["actions"])
        if accept:
            text = open(path).read().split("-- expected\n")[0]
            open(path, "w").write(text + "-- expected\n" + "".join(a + "\n" for a in answers))
            continue
        expect(table["actions"] and len(table["actions"]) == len(table["expected"]),
               f"{file}: {len(table['actions'])} actions, {len(table['expected'])} expected answers")
        for i, action in enumerate(table["actions"]):
            wanted = table["expected"][i] if i < len(table["expected"]) else None
            for way, given in (("debug", answers), ("dap", adapter)):
                got = given[i] if i < len(given) else None
                equal(f"{file}: {action} through penta {way}", got, wanted)
    return 0 if accept else summary()


if __name__ == "__main__":
    sys.exit(main())

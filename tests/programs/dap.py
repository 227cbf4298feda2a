#!/usr/bin/env python3
"""penta dap with a client of its own: what the table of actions (debugger.py) does not ask.

Lines, scopes, variables in pieces, memory, disassembly, output, pausing, recorded runs, the server with its token,
and messages that are none."""
import base64
import os
import re
import sys
import time

from dap_client import Adapter
from debugger import HERE as TABLES, read as read_table
from support import PENTA, Server, assembled, check, main, penta

SUM = """.global main
.func square
    MUL v1, v1
    RET
.endfunc
.func main
    VAR %i, i32, 1
    VAR %sum, i64, 0
.next:
    CMP %i, 3
    BR GT, @.done
    MOV v1, %i
    CALL @square
    ADD %sum, v1
    INC %i
    BR @.next
.done:
    MOV v0, %sum
    RET
.endfunc
"""
SKETCH = """int cells[8];
void setup() {
    for (int i = 0; i < 8; i++) {
        cells[i] = i * i;
    }
    printf("done\\n");
}
void loop() {
    delay(1);
}
"""


def start(program, configure=None, **more):
    a = Adapter([PENTA, "dap"])
    a.ask("initialize", adapterID="penta")
    a.ask(more.pop("request", "launch"), program=program, **more)
    a.event("initialized")
    if configure:
        configure(a)
    a.ask("configurationDone")
    return a


def top(a):
    return a.ask("stackTrace", threadId=1)["stackFrames"][0]


def scope(a, name, frame=1):
    for s in a.ask("scopes", frameId=frame)["scopes"]:
        if s["name"] == name:
            return s["variablesReference"]
    raise AssertionError("no scope " + name)


def values(a, reference, **more):
    return {v["name"]: v for v in a.ask("variables", variablesReference=reference, **more)["variables"]}


def test_lines_frames_and_locals():
    program = assembled("sum.casm", SUM, "-g")
    path = os.path.abspath("sum.casm")
    answers = []

    def configure(a):
        answers.extend(a.ask("setBreakpoints", source={"path": path}, breakpoints=[
            {"line": 3}, {"line": 14, "condition": "%i == 2"}, {"line": 99}])["breakpoints"])
    a = start(program, configure)
    check([b["verified"] for b in answers] == [True, True, False], answers)
    stop = a.event("stopped")
    check(stop["reason"] == "breakpoint" and stop["hitBreakpointIds"] == [answers[0]["id"]], stop)
    frames = a.ask("stackTrace", threadId=1)["stackFrames"]
    check([f["line"] for f in frames] == [3, 13] and frames[0]["source"]["path"] == path, frames)
    check(values(a, scope(a, "Locals", 2))["%i"]["value"] == "1", "locals of the caller")
    check(a.ask("evaluate", expression="%i", frameId=2)["result"] == "1", "in the caller")
    a.ask("stepOut", threadId=1)
    a.event("stopped")
    a.ask("next", threadId=1)
    a.event("stopped")
    check(top(a)["line"] == 15, top(a))
    a.ask("stepBack", threadId=1)
    a.event("stopped")
    check(top(a)["line"] == 14, top(a))
    a.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 14, "hitCondition": "2"}])
    a.ask("continue", threadId=1)
    a.event("stopped")
    a.ask("continue", threadId=1)
    a.event("exited")
    a.event("terminated")
    check(a.close() == 0, "exit")


def test_step_into_and_locations():
    a = start(assembled("sum.casm", SUM, "-g"), stopOnEntry=True)
    check(a.event("stopped")["reason"] == "entry", "entry")
    for line in (8, 10, 11, 12, 13, 3, 4, 14):
        a.ask("stepIn", threadId=1)
        a.event("stopped")
        check(top(a)["line"] == line, (line, top(a)))
    places = a.ask("breakpointLocations", source={"path": os.path.abspath("sum.casm")}, line=1, endLine=8)["breakpoints"]
    check(sorted(p["line"] for p in places) == [3, 4, 7, 8], places)
    check(a.ask("loadedSources")["sources"][0]["name"] == "sum.casm", "sources")
    check("CALL @square" in a.ask("source", source={"path": os.path.abspath("sum.casm")}, sourceReference=0)["content"], "text")
    targets = a.ask("completions", text="ma", column=3)["targets"]
    check([t["label"] for t in targets] == ["main"], targets)
    a.ask("restart")
    a.event("stopped")
    check(top(a)["line"] == 7, top(a))
    a.close()


def test_arrays_output_and_log_points():
    def configure(a):
        a.ask("setBreakpoints", source={"path": os.path.abspath("cells.ino")},
              breakpoints=[{"line": 4, "logMessage": "i is {i}"}, {"line": 9}])
    a = start(assembled("cells.ino", SKETCH, command="compile"), configure, options={"budget": 100000})
    outputs = ""
    while True:
        message = a.receive()
        if message.get("event") == "output":
            outputs += message["body"]["output"]
        if message.get("event") == "stopped":
            break
    check("i is 0\n" in outputs and "i is 7\n" in outputs and "done" in outputs, outputs)
    cells = values(a, scope(a, "Globals"))["cells"]
    check(cells["indexedVariables"] == 8, cells)
    part = values(a, cells["variablesReference"], filter="indexed", start=5, count=2)
    check([v["value"] for v in part.values()] == ["25", "36"], part)
    check(a.ask("setVariable", variablesReference=cells["variablesReference"], name="2", value="-7")["value"] == "-7", "set")
    memory = a.ask("readMemory", memoryReference=cells["memoryReference"], offset=8, count=8)
    check(base64.b64decode(memory["data"]) == b"\xf9\xff\xff\xff\x09\0\0\0", memory)
    a.ask("writeMemory", memoryReference=cells["memoryReference"], data=base64.b64encode(b"\x2a\0").decode())
    check(a.ask("evaluate", expression="cells", format={"hex": True})["result"] == "0x2a", "written")
    info = a.ask("dataBreakpointInfo", variablesReference=cells["variablesReference"], name="3")
    check(info["accessTypes"] == ["write", "read", "readWrite"], info)
    a.close()


def test_inputs_of_the_simulated_board():
    sketch = b"int level;\nvoid setup() {\n  pinMode(2, INPUT);\n  while (!digitalRead(2)) ;\n  level = millis();\n}\nvoid loop() { level++; }\n"
    with open("inputs", "w") as file:
        file.write("40 digital 2 1\n")
    for option in ("script", "inputs"):
        a = start(assembled("inputs.ino", sketch.decode(), command="compile"), lambda a: a.ask(
            "setBreakpoints", source={"path": os.path.abspath("inputs.ino")}, breakpoints=[{"line": 7}]), options={option: "inputs"})
        while a.receive().get("event") != "stopped":
            pass
        check(a.ask("evaluate", expression="level")["result"] == "40", option)
        a.close()


def test_machine_tree_and_disassembly():
    a = start(assembled("sum.casm", SUM, "-g"), stopOnEntry=True)
    a.event("stopped")
    tree = values(a, scope(a, "Machine"))
    check("pc" in tree and tree["registers"]["variablesReference"], tree)
    check("v0" in values(a, tree["registers"]["variablesReference"]), "registers of the tree")
    here = top(a)["instructionPointerReference"]
    lines = a.ask("disassemble", memoryReference=here, instructionOffset=-4, instructionCount=8)["instructions"]
    check(len(lines) == 8 and lines[0].get("presentationHint") == "invalid", lines)
    check(lines[4]["symbol"] == "main" and lines[4]["line"] == 7 and "VAR" in lines[4]["instruction"], lines[4])
    a.close()


def test_traps():
    a = start(assembled("trap.casm", ".global main\n.func main\n    TRAP 7\n.endfunc\n", "-g"))
    check(a.event("stopped")["reason"] == "exception", "trap")
    check(a.ask("exceptionInfo", threadId=1)["exceptionId"] == "TRAP", "info")
    a.ask("reverseContinue", threadId=1)
    check(a.event("stopped")["reason"] == "entry", "back")
    a.close()


def test_pause_and_requests_while_it_runs():
    program = assembled("spin.casm", ".global main\n.func main\n    VAR %i, i64, 0\n.next:\n    INC %i\n    BR @.next\n.endfunc\n", "-g")
    a = start(program)
    a.ask("threads")
    path = os.path.abspath("spin.casm")
    check(a.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 3}])["breakpoints"][0]["verified"],
          "while it runs")
    a.ask("pause", threadId=1)
    check(a.event("stopped")["reason"] == "pause", "pause")
    check(int(a.ask("evaluate", expression="%i")["result"]) > 100, "it ran")
    a.ask("reverseContinue", threadId=1)
    check(a.event("stopped")["reason"] == "breakpoint", "back to the breakpoint")
    check(top(a)["line"] == 3, top(a))
    a.ask("setBreakpoints", source={"path": path}, breakpoints=[])
    a.ask("continue", threadId=1)
    time.sleep(0.1)
    check(a.close() == 0, "it leaves while the program runs")


def test_recorded_run():
    program = assembled("cells.ino", SKETCH, command="compile")
    penta("run", program, "--budget", "3000", "--record", "run.jsonl")
    a = start(program, request="attach", record=os.path.abspath("run.jsonl"))
    check(a.event("stopped")["reason"] == "exception", "the end of its budget")
    a.close()


def test_options_of_reading():
    """Options for opening the file reach it: here which of two programs is debugged."""
    first, second = assembled("first.cvasm", "PUSH 1\nHALT\n"), assembled("second.cvasm", "PUSH 2\nPUSH 3\nHALT\n")
    penta("create", f"one={first}", f"two={second}", "-o", "both.cvbc", needed=True)
    lines = {}
    for name in ("one", "two"):
        a = start(os.path.abspath("both.cvbc"), stopOnEntry=True, options={"program": name, "stack": 100})
        lines[name] = a.ask("disassemble", memoryReference="0x0", instructionCount=3)["instructions"]
        a.close()
    check(lines["one"] != lines["two"] and "PUSH 2" in lines["two"][0]["instruction"], str(lines))
    try:
        start(os.path.abspath("both.cvbc"), options={"program": "three"})
        check(False, "a program that is not there")
    except Adapter.Refused as error:
        check("no program is called 'three'" in str(error), str(error))


def test_refusals():
    a = Adapter([PENTA, "dap"])
    for command, says in (("continue", "no program was launched"), ("nothing", "no request 'nothing'"), ("launch", "'program' is missing")):
        try:
            a.ask(command)
            raise AssertionError(command)
        except Adapter.Refused as refused:
            check(says in str(refused), refused)
    a.close()


def test_every_promise_is_kept():
    """Each ability that initialize tells belongs to a request that is there."""
    a = Adapter([PENTA, "dap"])
    abilities = [k for k, v in a.ask("initialize").items() if v is True]
    a.close()
    a = start(assembled("sum.casm", SUM, "-g"), stopOnEntry=True)
    a.event("stopped")
    for ability in abilities:
        name = re.fullmatch(r"supports(\w+?)(Request)?", ability)[1]
        request = {"FunctionBreakpoints": "setFunctionBreakpoints", "DataBreakpoints": "setDataBreakpoints",
                   "InstructionBreakpoints": "setInstructionBreakpoints"}.get(name, name[0].lower() + name[1:])
        if not ability.endswith("Request") and request == name[0].lower() + name[1:] and name not in ("SetVariable", "SetExpression", "StepBack"):
            continue
        if request in ("terminate", "configurationDone", "restart"):
            continue
        try:
            a.ask(request)
        except Adapter.Refused as refused:
            check("no request" not in str(refused), (ability, refused))
    a.close()


def machine_of(table):
    """The program of a table of debugger actions, stopped before its first instruction."""
    name, command, *more = table["source argument"].split()
    words = [word for line in table["options"] for word in line.split()]
    program = assembled(name, "\n".join(table["source"]) + "\n", *more, command=command)
    a = start(program, options=dict(zip([w.lstrip("-") for w in words[::2]], words[1::2])), stopOnEntry=True, stopOnExit=True)
    a.event("stopped")
    return a


def every_request(a):
    here = top(a)["instructionPointerReference"]
    listing = a.ask("disassemble", memoryReference=here, instructionCount=3, instructionOffset=-1)["instructions"]
    check(len(listing) == 3 and listing[1]["address"] == here and listing[1]["instruction"], listing)
    point = a.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": here, "condition": "executed >= 0"}])
    check(point["breakpoints"][0]["verified"], point)
    for source in a.ask("loadedSources")["sources"]:
        places = a.ask("breakpointLocations", source=source, line=1, endLine=99)["breakpoints"]
        check(places and a.ask("source", source=source, sourceReference=0)["content"], source)
        points = a.ask("setBreakpoints", source=source, breakpoints=[{"line": places[-1]["line"], "hitCondition": ">= 1"},
                                                                     {"line": places[0]["line"], "logMessage": "at {pc}"}])
        check(all(b["verified"] for b in points["breakpoints"]), points)
        a.ask("setBreakpoints", source=source, breakpoints=[])
    check(not a.ask("setFunctionBreakpoints", breakpoints=[{"name": "nobody"}])["breakpoints"][0]["verified"], "a function")
    check(int(a.ask("evaluate", expression="pc * 2", context="hover")["result"], 0) == 2 * int(here, 0), "pc")
    check("pc" in [t["label"] for t in a.ask("completions", text="1 + p", column=6)["targets"]], "completions")
    for motion in ("stepIn", "next", "stepBack", "reverseContinue"):
        a.ask(motion, threadId=1, granularity="instruction")
        a.event("stopped")
    check(a.ask("evaluate", expression="where", context="repl")["result"].startswith("step 0 "), "back at the start")
    a.ask("setInstructionBreakpoints", breakpoints=[])


def registers_and_tree(a):
    register = next(iter(values(a, scope(a, "Registers")).values()))
    if register["name"] != "sp":  # of cvbc, which is the depth of its stack
        check(int(a.ask("setVariable", variablesReference=scope(a, "Registers"), name=register["name"], value="4 + 1")["value"], 0) == 5, "set")
        check(int(a.ask("evaluate", expression=register["evaluateName"])["result"], 0) == 5, "it is set")
        check(int(a.ask("setExpression", expression=register["evaluateName"], value="6")["value"], 0) == 6, "set again")
    info = a.ask("dataBreakpointInfo", variablesReference=scope(a, "Registers"), name=register["name"])
    check(info["dataId"] and a.ask("setDataBreakpoints", breakpoints=[
        {"dataId": info["dataId"], "accessType": kind} for kind in info["accessTypes"]])["breakpoints"][-1]["verified"], info)
    a.ask("setDataBreakpoints", breakpoints=[])
    machine = values(a, scope(a, "Machine"))
    check(machine["pc"]["presentationHint"] == {"attributes": ["readOnly"]}, machine["pc"])
    try:
        a.ask("setVariable", variablesReference=scope(a, "Machine"), name="pc", value="0")
        raise AssertionError("pc was set")
    except Adapter.Refused as refused:
        check("/pc" in str(refused), refused)
    nodes = [v for v in machine.values() if v["variablesReference"] and values(a, v["variablesReference"])]
    for node in nodes:
        again = a.ask("evaluate", expression=node["evaluateName"])["variablesReference"]
        check(list(values(a, again)) == list(values(a, node["variablesReference"])), node)


def test_every_request_in_every_machine():
    memory = {"kblob": "0x10000", "kblob_grid": "0x10000", "pvm": "sp - 16", "cvbc": "0x1000000", "tvmr": "1 << 32", "coil": "0x300000000"}
    for file in sorted(f for f in os.listdir(TABLES) if f.endswith(".actions")):
        a = machine_of(read_table(os.path.join(TABLES, file)))
        every_request(a)
        registers_and_tree(a)
        at = hex(int(a.ask("evaluate", expression=memory[file.split(".")[0]])["result"], 0))
        a.ask("writeMemory", memoryReference=at, data=base64.b64encode(b"\x07\x08").decode())
        check(base64.b64decode(a.ask("readMemory", memoryReference=at, count=2)["data"]) == b"\x07\x08", at)
        check(int(a.ask("evaluate", expression=f"u8[{at}]")["result"], 0) == 7, at)
        a.ask("continue", threadId=1)
        check(a.event("stopped")["reason"] in ("pause", "exception"), "the end")
        check(a.ask("exceptionInfo", threadId=1)["exceptionId"], "why")
        a.ask("reverseContinue", threadId=1)
        a.event("stopped")
        a.ask("restart")
        check(a.event("stopped")["reason"] == "entry", "entry")
        a.ask("terminate")
        a.event("terminated")
        check(a.close() == 0, "exit")


def test_server_wants_its_token():
    program = assembled("sum.casm", SUM, "-g")
    server = Server(PENTA, "dap", "--listen", "0")
    for token, good in (("wrong", False), (None, True)):
        with server.connect() as s, s.makefile("rwb", buffering=0) as stream:
            a = Adapter(stream=stream)
            a.ask("initialize")
            try:
                a.ask("threads")
                raise AssertionError("without a token")
            except Adapter.Refused as refused:
                check("token" in str(refused), refused)
            try:
                a.ask("launch", program=program, token=token or server.token)
                check(good, "a wrong token was taken")
            except Adapter.Refused:
                check(not good, "the token was not taken")
    check(server.ended() == 0, "it ends with its client")


def test_strangers_take_nothing():
    """Connections without the token, of any kind and number, neither end the server nor keep the client out."""
    program = assembled("sum.casm", SUM, "-g")
    server = Server(PENTA, "dap", "--listen", "0")
    strangers = []
    for said in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100000, b"Content-Length: 99999999\r\n\r\n{"):
        s = server.connect()
        try:
            s.sendall(said)
        except OSError:
            pass  # sent away already
        if said:
            s.close()
        else:
            strangers.append(s)
    for _ in range(3):
        with server.connect() as s, s.makefile("rwb", buffering=0) as stream:
            a = Adapter(stream=stream)
            a.ask("initialize")
            try:
                a.ask("launch", program=program, token="0" * 32)
                raise AssertionError("a wrong token was taken")
            except Adapter.Refused:
                pass
    strangers += [server.connect() for _ in range(40)]
    with server.connect() as s, s.makefile("rwb", buffering=0) as stream:
        a = Adapter(stream=stream)
        a.ask("initialize")
        a.ask("launch", program=program, token=server.token, stopOnEntry=True)
        for stranger in strangers:  # the place is taken
            stranger.settimeout(20)
            try:
                check(stranger.recv(1) == b"", "a stranger is still there")
            except ConnectionResetError:
                pass
            stranger.close()
        a.ask("threads")
    check(server.ended() == 0, "it ends with its client")


def test_what_is_no_message():
    for text, code in ((b"", 0), (b"Content-Length: 3\r\n\r\n{}", 0), (b"Content-Length: 5\r\n\r\n{oops", 1), (b"Content-Length: x\r\n\r\n", 1),
                       (b"Content-Length: 99999999999\r\n\r\n", 1), (b"A" * 10000, 1), (b"Content-Length: 2\r\n\r\n[]", 0)):
        done = penta("dap", data=text)
        check(done.returncode == code, (text[:40], done.returncode, done.stderr))


if __name__ == "__main__":
    sys.exit(main(globals()))

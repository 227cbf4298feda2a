#!/usr/bin/env python3
"""Records and snapshots of runs.

Every case of tests/cases that runs is recorded and repeated: both runs print the same, backwards and
forwards in the debugger too. Runs without host calls are also cut in two by a snapshot. Then
record/damaged.txt: records that are refused, and runs that go another way than their record.
"""
import json
import os
import re
import sys

from support import PENTA, ROOT, case_runner, penta, write

HERE = os.path.join(ROOT, "tests/programs/record")
cases = case_runner()

SWITCHES = {"-q", "--quiet", "--host-log", "--unverified", "--exit-value", "--show-memory"}


class Records(cases.Runner):
    def __init__(self, penta):
        super().__init__(penta, False)
        self.kinds, self.calls = {}, {}

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def printed(self, command, program, *options):
        done = self.call(command, program, *options)
        errors = done.stderr.decode(errors="replace").replace(program, "FILE")
        return done.returncode, done.stdout.decode(errors="replace"), errors

    def repeat(self, case, program, opened, options):
        record = self.path("record")
        if "--program" in options:  # an option of reading the file, which a record does not hold
            at = options.index("--program")
            opened, options = [*opened, *options[at:at + 2]], options[:at] + options[at + 2:]
        first = self.printed("run", program, *opened, *options, "--record", record)
        if not os.path.exists(record):
            return None
        lines = [json.loads(line) for line in open(record)]
        end = lines[-1]
        unverified = [o for o in options if o == "--unverified"]
        again = self.printed("run", program, *opened, *[o for o in options if o in SWITCHES], "--replay", record)
        # Why a host could not answer is not recorded.
        same = first[:2] == again[:2] if end["stop"] == "host" else first == again
        assert same, f"the repeated run differs:\n{first}\n{again}"
        traced = self.printed("trace", program, *opened, *unverified, "--last", "1", "--replay", record)
        assert "PENTA0024" not in traced[2], f"the traced run differs:\n{traced}"
        script = self.path("script")
        forward = f"step {end['steps']}" if "steps" in end else "continue"
        write(script, f"{forward}\nback 3\nstep 3\ngoto 0\n{forward}\n")
        moved = self.printed("debug", program, *opened, *unverified, "-x", script, "--replay", record)
        assert "another way" not in moved[1] + moved[2], f"debugging the run differs:\n{moved}"
        os.remove(record)
        self.calls[case.format] = self.calls.get(case.format, 0) + len(lines) - 2
        return lines

    def cut(self, case, program, opened, options, steps):
        """The same end from a snapshot in the middle, made on the way or by stopping there."""
        snapshot, other = self.path("snapshot"), self.path("other")
        options = options if "--engine" in options else [*options, "--engine", "interp"]   # which counts
        whole = self.printed("run", program, *opened, *options, "--save-at", str(steps), "--save", snapshot)
        assert whole == self.printed("run", program, *opened, *options), "saving changes the run"
        self.call("run", program, *opened, *options, "--fuel", str(steps), "--save", other)
        assert open(snapshot, "rb").read() == open(other, "rb").read(), "two snapshots of one state differ"
        loaded = self.printed("run", program, *opened, *options, "--load", snapshot)
        assert whole == loaded, f"from the snapshot at {steps} on the run differs:\n{whole}\n{loaded}"
        os.remove(snapshot)
        os.remove(other)
        self.kinds[case.format] = self.kinds.get(case.format, 0) + 1

    def execute(self, case, path, opened):
        options = case.args.get("run", [])
        lines = self.repeat(case, path, opened, options)
        steps = lines[-1].get("steps", 0) if lines else 0
        if lines and len(lines) == 2 and steps > 1 and "--fuel" not in options:
            self.cut(case, path, opened, options, steps // 2)

    def run(self, case):
        text, data = case.get("asm"), case.get("hex")
        if case.get("run") is None:
            return
        data = self.assemble(case, text, "asm") if text is not None else cases.hex_bytes(data)
        if data:
            self.execute(case, self.file(case, ".bin", data), ["--format", case.format, *case.args.get("open", [])])

    def damaged(self, path):
        """Blocks: `-- what`, then lines `KEY: text`, where record is the record of `options`, edited."""
        program, other = self.path("program.pvmasm"), self.path("other.pvmasm")
        blocks = re.split(r"(?m)^-- ", open(path).read())[1:]
        sources = dict(b.split("\n", 1) for b in blocks if b.split("\n", 1)[0].startswith("source"))
        open(program, "w").write(sources["source"])
        host = self.path("host")
        open(host, "w").write(sources["source host"])
        record = self.path("record")
        done = self.call("run", program, "--call", "main", "--host", host, "--record", record)
        assert done.returncode == 0, done.stderr
        good = open(record).read()
        os.remove(host)  # a repeated run does not need it
        for block in blocks:
            title, _, body = block.partition("\n")
            if title.startswith("source"):
                continue
            fields = [line.split(": ", 1) for line in body.splitlines() if ": " in line]
            text, source = good, sources["source"]
            for key, value in fields:
                if key == "text":
                    text = value.encode().decode("unicode_escape")
                elif key == "cut":
                    text = text[:int(value)]
                elif key in ("record", "program"):
                    old, new = value.replace("\\n", "\n").split(" => ")
                    where = text if key == "record" else source
                    assert old in where, f"{title}: '{old}' is not there"
                    if key == "record":
                        text = text.replace(old, new, 1)
                    else:
                        source = source.replace(old, new, 1)
            open(record, "w").write(text)
            open(other, "w").write(source)
            got = self.printed("run", other, "--replay", record, "-q")
            wanted = dict(fields)["error"]
            shown = re.sub(r"\s+", " ", got[2].replace(record, "RECORD"))
            if wanted not in shown:
                self.failed += 1
                print(f"FAIL {title}\nwanted {wanted}\ngot    {shown}")


    def waits(self):
        """Loops that wait are short in a record, whatever calls a round has, and are repeated step by step."""
        program, record, inputs = self.path("wait.cvbc"), self.path("record"), self.path("inputs")
        open(inputs, "w").write("20 digital 2 1\n21 digital 3 1\n60 digital 4 1\n")
        for calls in range(1, 10):
            body = "".join(f"    PUSH {2 + i % 3}\n    DIGITAL_READ\n    POP\n" for i in range(calls - 1))
            text = f"first:\n    PUSH 2\n    DIGITAL_READ\n    JMP_FALSE first\nsecond:\n{body}    PUSH 4\n    DIGITAL_READ\n    JMP_FALSE second\n" \
                   "    PUSH 5\nthird:\n    PUSH 3\n    DIGITAL_READ\n    POP\n    PUSH 1\n    SUB\n    LOAD_LOCAL 0\n    JMP_TRUE third\n    HALT\n"
            open(self.path("wait.cvasm"), "w").write(text)
            assert self.call("asm", self.path("wait.cvasm"), "-o", program).returncode == 0, "wait.cvasm"
            first = self.printed("run", program, "--plain", "--script", inputs, "--record", record)
            again = self.printed("run", program, "--replay", record)
            size = os.path.getsize(record)
            assert first == again, f"a loop of {calls} calls: {first} {again}"
            assert size < (20000 if calls < 8 else 2000000), f"a loop of {calls} calls takes {size} bytes"
            os.remove(record)
            self.passed += 1


def main():
    runner = Records(PENTA)
    wanted = sys.argv[2:]
    for path in cases.case_files():
        if not wanted or any(w in path for w in wanted):
            runner.report(cases.Case(path))
    try:
        runner.damaged(os.path.join(HERE, "damaged.txt"))
        runner.waits()
    except AssertionError as error:
        runner.failed += 1
        print("FAIL", error)
    if not wanted:
        for format in (name for name, info in runner.formats.items() if info["engines"]):
            if not runner.kinds.get(format) or not runner.calls.get(format):
                runner.failed += 1
                print(f"FAIL no run of {format} was cut in two, or none had a host call")
    runner.commands.close()
    print(f"{runner.passed} passed, {runner.failed} failed; host calls: {runner.calls}, snapshots: {runner.kinds}")
    return bool(runner.failed)


sys.exit(main())

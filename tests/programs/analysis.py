#!/usr/bin/env python3
"""Commands and what they print: profile, cover, size, graph, arrows and two traces, on a program of each format.

    tests/programs/analysis.py PENTA [FOLDER [NAME...]]

A file NAME.case of a folder has sources and commands; after a command comes what it prints. An exit code other than 0
is the last line, "exit N", after the first line of the error. --accept writes what the tool prints now. Folders: analysis;
debugger (the words of penta debug); device (scripts and recordings of the mock device); verdicts (vectors that do not
hold); web (calls of the WebAssembly module, in a program of this machine).

    -- source NAME COMMAND [OPTION...]    text, made into the file PROGRAM by penta COMMAND
    -- file NAME                          text, as it is
    -- penta COMMAND ...                  run in the folder of these files
    -- read NAME                          what a command wrote there
    -- changed VECTOR                     a file of tests/vectors with one value of it changed: lines "PATH = JSON", and
                                          under each what penta conform prints (no JSON: the value is left out)
    -- web                                calls of one module: lines "JSON" or "JSON < FILE" and under each the answer, and
                                          its bytes, as text where they are some
    -- sampled COMMAND ...                a profile of samples; then "PATH PERCENT": call paths of
                                          functions that have at least that part of them

Of every program, counts of profile are compared with those of a trace.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

from support import PENTA, ROOT, Counts, check, expect, read_text, run_program, summary, write

ACCEPT = "--accept" in sys.argv
WORDS = [word for word in sys.argv[2:] if not word.startswith("-")]
HERE = os.path.join(ROOT, "tests/programs", WORDS[0] if WORDS else "analysis")
VECTORS = os.path.join(ROOT, "tests/vectors")
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def penta(arguments, folder):
    done = run_program(PENTA, *arguments, cwd=folder, encoding="utf-8", env=ENVIRONMENT)
    check("Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr)
    return done


def sections(path):
    found = [("", [])]
    for line in open(path, encoding="utf-8"):
        if line.startswith("-- "):
            found.append((line[3:].strip(), []))
        else:
            found[-1][1].append(line.rstrip("\n"))
    return found


def printed(done):
    lines = done.stdout.splitlines()
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
        lines += errors[:1] + [f"exit {done.returncode}"]
    return lines


def same_as_trace(command, folder):
    """Executions by pc, counted by the profiler and by reading a trace."""
    words = shlex.split(command)
    options = [word for word in words[2:] if word not in ("--folded", "--all")]
    for name in ("--by", "--weight", "--top", "--flamegraph"):
        while name in options:
            at = options.index(name)
            del options[at:at + 2]
    done = penta(["trace", *options, "--json"], folder)
    lines = json.loads(done.stdout)["lines"]
    wanted = Counter(line["pc"] for line in lines if line.get("stop") not in ("trap",))
    table = json.loads(penta(["profile", *options, "--by", "instruction", "--json"], folder).stdout)
    counted = {row["from"]: row["executions"] for row in table["rows"]}
    if counted != dict(wanted):
        different = {pc for pc in set(counted) | set(wanted) if counted.get(pc) != wanted.get(pc)}
        return f"profile and trace differ at pcs {sorted(different)[:8]}: {command}"
    return ""


def sampled(command, lines, folder):
    """Timers are not exact, and machines are busy: a few samples are enough."""
    done = penta(command, folder)
    if "cannot run this program here" in done.stderr:
        return ""
    folded = dict(line.rsplit(" ", 1) for line in penta([*command, "--folded"], folder).stdout.splitlines())
    total = sum(map(int, folded.values()))
    if done.returncode or " samples\n" not in done.stdout or total < 5:
        return f"{command}: {total} samples\n{done.stdout}{done.stderr}"
    for path, percent in (line.rsplit(" ", 1) for line in lines if line):
        if int(folded.get(path, 0)) * 100 < int(percent) * total:
            return f"{command}: {path} has {folded.get(path, 0)} of {total} samples"
    return ""


def changed(vector, lines, folder):
    """Each change, and what the judge of the vector says."""
    answer, work = [], os.path.join(folder, "changed")
    shutil.copytree(os.path.join(VECTORS, os.path.dirname(vector)), work, dirs_exist_ok=True)
    name = os.path.basename(vector)
    text = read_text(os.path.join(VECTORS, vector))
    for line in (line for line in lines if not line.startswith(" ")):
        keys, _, value = line.partition(" =")
        *before, last = [int(key) if key.isdigit() else key for key in keys.split("/")]
        document = part = json.loads(text)
        for key in before:
            part = part[key]
        if value:
            part[last] = json.loads(value)
        else:
            del part[last]
        write(os.path.join(work, name), json.dumps(document))
        done = printed(penta(["conform", name], work))
        answer += [line] + ["    " + row for row in done]
    shutil.rmtree(work)
    return answer


def web_answer(module, line, folder):
    request, _, name = line.partition(" < ")
    data = open(os.path.join(folder, name), "rb").read() if name else b""
    request = request.encode()
    module.stdin.write(b"%d %d\n%s%s" % (len(request), len(data), request, data))
    module.stdin.flush()
    answer, beside = (module.stdout.read(int(size)) for size in module.stdout.readline().split())
    found = answer.decode().splitlines()
    if beside:
        text = all(byte == 10 or 32 <= byte < 127 for byte in beside)
        found += beside.decode().splitlines() if text else [f"{len(beside)} bytes: {beside[:64].hex()}"]
    return found


def web(lines, folder):
    answer = []
    with subprocess.Popen([os.path.join(os.path.dirname(PENTA), "web_requests")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as module:
        for line in (line for line in lines if not line.startswith(" ")):
            answer += [line] + [("    " + row).rstrip() for row in web_answer(module, line, folder)]
        module.stdin.close()
    return answer


def same_rows(what, lines, answer):
    """Checks of the calls or changes that lines at the left are, with what is under each."""
    wrong = "\n".join(line for line in answer if line not in lines)
    expect(ACCEPT or answer == lines, f"{what}\n{wrong}")
    for _ in range(sum(not line.startswith(" ") for line in lines) - 1):
        expect(True)


def run(path):
    written, name = [], os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        for head, lines in sections(path):
            verb, _, rest = head.partition(" ")
            answer, what = lines, f"{name}: {head}"
            if verb in ("source", "file"):
                file, *how = rest.split()
                write(os.path.join(folder, file), "\n".join(lines) + "\n")
                if how:
                    done = penta([how[0], file, *how[1:], "-o", "PROGRAM"], folder)
                    check(done.returncode == 0, f"{what}: {done.stderr}")
            elif verb == "read":
                answer = read_text(os.path.join(folder, rest)).splitlines()
                expect(ACCEPT or answer == lines, f"{what} has\n" + "\n".join(answer))
            elif verb in ("changed", "web"):
                answer = changed(rest, lines, folder) if verb == "changed" else web(lines, folder)
                same_rows(what, lines, answer)
            elif verb == "sampled":
                wrong = sampled(shlex.split(rest), lines, folder)
                expect(not wrong, f"{name}: {wrong}")
            elif verb == "penta":
                command = shlex.split(head)[1:]
                done = penta(command, folder)
                answer = printed(done)
                expect(ACCEPT or answer == lines, f"{what}\n" + "\n".join(answer) + "\n--- expected\n" + "\n".join(lines))
                if command[0] == "profile" and not done.returncode and "jit" not in command:
                    wrong = same_as_trace(head, folder)
                    expect(not wrong, f"{name}: {wrong}")
            elif head:
                expect(False, f"{name}: no section is called '-- {head}'")
            written += ([f"-- {head}"] if head else []) + answer
    if ACCEPT:
        write(path, "\n".join(written) + "\n")


def main():
    only = WORDS[1:]
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".case") and (not only or name[:-5] in only):
            before = Counts.passed + Counts.failed
            run(os.path.join(HERE, name))
            if Counts.passed + Counts.failed == before:
                expect(False, f"{name}: nothing is checked")
    return summary()


sys.exit(main())

#!/usr/bin/env python3
"""The same table of debugger actions for a program of each format, through penta debug.

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
import subprocess
import sys
import tempfile

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


def through_tool(penta, program, options, actions):
    script = ""
    for action in actions:
        verb, _, rest = action.partition(" ")
        script += f"{COMMANDS.get(verb, verb)} {rest}\nprint {MARK}\n"
    done = subprocess.run([penta, "debug", program, *options], input=f"print {MARK}\n" + script, capture_output=True,
                          text=True, timeout=60)
    if done.stderr:
        return ["error: " + done.stderr]
    parts = done.stdout.split(MARK + "\n")[1:-1]
    return [normal(a, part.splitlines()) for a, part in zip(actions, parts)]


def main():
    accept = "--accept" in sys.argv
    penta = os.path.abspath([a for a in sys.argv[1:] if a != "--accept"][0])
    failed = 0
    for file in sorted(os.listdir(HERE)):
        path = os.path.join(HERE, file)
        table = read(path)
        name, command, *more = table["source argument"].split()
        with tempfile.TemporaryDirectory() as work:
            with open(os.path.join(work, name), "w") as out:
                out.write("\n".join(table["source"]) + "\n")
            subprocess.run([penta, command, *more, name, "-o", "program"], cwd=work, check=True, timeout=60)
            options = [word for line in table["options"] for word in line.split()]
            answers = through_tool(penta, os.path.join(work, "program"), options, table["actions"])
        if accept:
            text = open(path).read().split("-- expected\n")[0]
            open(path, "w").write(text + "-- expected\n" + "".join(a + "\n" for a in answers))
            continue
        for i, action in enumerate(table["actions"]):
            wanted = table["expected"][i] if i < len(table["expected"]) else None
            got = answers[i] if i < len(answers) else None
            if wanted != got:
                failed += 1
                print(f"{file}: {action}\n  wanted {wanted}\n  got    {got}")
    print("failed" if failed else "debugger: ok")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Going back in the debugger is exact: for every case of every format, a random walk of step, back,
goto and continue ends in the same saved bytes as a run straight to that step.

    walks.py PENTA [SEED] [FILTER]
"""
import json
import os
import random
import sys
import tempfile

from support import case_runner, dump_cases, expect, penta, read, summary

LONGEST = 1500  # steps


def options_of(case):
    """The options of the case that the debugger has too."""
    words, options = case.args.get("open", []) + case.args.get("run", []), []
    while words:
        word = words.pop(0)
        if word in ("-q", "--host-log", "--inner-trace"):
            continue
        if word == "--fuel":
            words.pop(0)
            continue
        options.append(word)
    return ["--format", case.format, *options]


def walk(pick, steps, ends):
    """Commands of a random walk over that many steps; `ends`: continue comes to an end."""
    commands = []
    for _ in range(pick.randrange(4, 12)):
        kind = pick.choice(["step", "back", "goto", "goto", "continue" if ends else "step"])
        reach = pick.choice([1, 3, steps // 4 + 1, steps + 1])
        argument = {"goto": pick.randrange(steps + 1), "continue": ""}.get(kind, pick.randrange(1, reach + 1))
        commands.append(f"{kind} {argument}".strip())
    return commands


class Walks:
    def __init__(self, seed, folder):
        self.pick, self.folder = random.Random(seed), folder

    def debug(self, path, options, commands):
        done = penta("debug", path, *options, "--json", data="\n".join(commands) + "\n", text=True)
        return json.loads(done.stdout)

    def saved(self, path, options, commands, name):
        """The snapshot after these commands, and the document."""
        to = os.path.join(self.folder, name)
        document = self.debug(path, options, [*commands, f"save {to}"])
        return read(to), document

    def check(self, name, path, options):
        first = self.debug(path, options, [f"goto {LONGEST}"])
        if "steps" not in first:  # no machine opens on this file
            return
        steps = first["steps"]
        commands = walk(self.pick, steps, steps < LONGEST)
        to = self.pick.choice([steps, steps, self.pick.randrange(steps + 1)])
        straight, document = self.saved(path, options, [f"goto {to}"], "straight")
        walked, other = self.saved(path, options, [*commands, f"goto {to}"], "walked")
        expect(straight == walked,
               f"{name}: {'; '.join(commands)}; goto {to}\n{document['transcript']}\n--\n{other['transcript']}")


def main():
    tool = case_runner()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    filter_ = sys.argv[3] if len(sys.argv) > 3 else ""
    with tempfile.TemporaryDirectory() as folder:
        dump_cases(folder)
        walks = Walks(seed, folder)
        for path in tool.case_files():
            case = tool.Case(path)
            name = f"{case.format}-{case.name}"
            binary = os.path.join(folder, name + ".bin")
            if filter_ in name and os.path.exists(binary):
                walks.check(name, binary, options_of(case))
        return summary()


if __name__ == "__main__":
    sys.exit(main())

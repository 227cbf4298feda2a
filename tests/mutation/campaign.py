"""Changes the code in one place at a time and looks whether a test notices.

    scripts/mutate [--sample N] [--seed S] [--files PATTERN...] [--results FILE] [--seconds N] [--workers N]
    scripts/mutate --survivors [--tests-only] [--results FILE]
    scripts/mutate --try FILE:LINE OLD NEW

Lines are drawn by the seed from the files, and for each one change of it. A change is built in a copy of the tree and
put through the tests that reach its line, the cheapest first, until one fails. Each result is appended to the
file of results as soon as it is there; the next start goes on after the last one.

    killed      a test failed
    survived    no test that reaches the line failed; or none reaches it
    equivalent  the compiler makes the same code of it; or a person says why nothing can tell it from the original

A change that does not compile does not count. --survivors tries again those that survived, with the tests of today
(--tests-only: the copy takes over tests/ alone, so that little is built again). --try is for one change by hand."""
import argparse
import fnmatch
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

import builds
import changes
import reach

# Where a mistake costs most.
FILES = ["src/*verify*.c", "src/*/container.c", "src/*/link/*.c", "src/ssa/passes/*.c", "src/crypto/*.c", "src/*/vm/ops*.c",
         "src/*/jit/*.c", "src/core/*.c", "src/penta/*.c"]
COLUMNS = ["file", "line", "column", "kind", "change", "result", "by", "text"]
CASES_FIRST, CASES_NEXT = 8, 40


def one_line(text, limit=70):
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 4] + " ..."


class Mutant:
    def __init__(self, file, change, text):
        self.file, self.change = file, change
        self.source = text.split("\n")[change.line - 1].strip()

    def words(self):
        c = self.change
        new = one_line(c.new) or "(nothing)"
        return [self.file, str(c.line), str(c.column), c.kind, f"{one_line(c.old)} -> {new}"]


class Results:
    """The file of results: a line for each change, in the order in which they ended."""

    def __init__(self, path):
        self.path, self.lock, self.rows = path, threading.Lock(), []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.rows = [line.rstrip("\n").split("\t") for line in file if line.strip()][1:]

    def has(self, mutant):
        return any(row[:5] == mutant.words() for row in self.rows)

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            for row in [COLUMNS, *self.rows]:
                file.write("\t".join(row) + "\n")

    def add(self, mutant, result, by):
        with self.lock:
            row = [*mutant.words(), result, by, mutant.source]
            for i, old in enumerate(self.rows):
                if old[:5] == row[:5]:
                    self.rows[i] = row
                    break
            else:
                self.rows.append(row)
            self.save()

    def count(self, result):
        return sum(row[5] == result for row in self.rows)

    def counted(self):
        return len(self.rows) - self.count("unbuilt")

    def summary(self):
        killed, survived, same = (self.count(r) for r in ("killed", "survived", "equivalent"))
        rate = 100 * killed / max(killed + survived, 1)
        return f"{killed} killed, {survived} survived, {same} equivalent: {rate:.1f} % of those that are not equivalent"


class Unlinked(RuntimeError):
    """A change without which a name is nowhere, as that of a function that only a branch which is never taken calls."""


class Worker:
    """A copy of the build PLAIN, in which one object at a time is that of a changed file."""

    def __init__(self, number, commands):
        self.build, self.commands = os.path.join(builds.HOME, f"worker{number}"), commands
        self.changed_objects, self.linked = {}, set()
        self.mark = os.path.join(self.build, "changed")
        if os.path.exists(self.mark):  # an interruption left a changed object
            shutil.rmtree(self.build)
        if not os.path.exists(self.build):
            shutil.copytree(builds.PLAIN, self.build + ".new", symlinks=True)
            os.replace(self.build + ".new", self.build)

    def compile(self, mutant, text, extra=""):
        """True when every object that has the file was built; False in `differs` when none of them changed."""
        path = os.path.join(self.build, "changed.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.differs = False
        for object_file, command in self.commands.compiles(mutant.file):
            command = command.replace(os.path.join(builds.TREE, mutant.file), path)
            out = object_file + ".new"
            command = re.sub(r"-o \S+ ", f"-o {out} {extra} ", command)
            command = re.sub(r"-MD -MT \S+ -MF \S+", "-w", command)
            done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True,
                                  env={**os.environ, "CCACHE_DISABLE": "1"})
            if done.returncode:
                return False
            with open(os.path.join(self.build, out), "rb") as new:
                data = new.read()
            self.differs |= data != self.commands.original(object_file)
            if not extra:
                self.changed_objects[object_file] = data
        return True

    def apply(self):
        open(self.mark, "w", encoding="utf-8").close()
        for object_file, data in self.changed_objects.items():
            with open(os.path.join(self.build, object_file), "wb") as file:
                file.write(data)
        self.linked = set()

    def restore(self):
        for object_file in self.changed_objects:
            shutil.copy2(os.path.join(builds.PLAIN, object_file), os.path.join(self.build, object_file))
        self.linked = set()
        self.changed_objects = {}
        if os.path.exists(self.mark):
            os.remove(self.mark)

    def link(self, modules):
        for module in modules:
            if module in self.linked:
                continue
            command = self.commands.link(module)
            if command:
                done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True)
                if done.returncode:
                    raise Unlinked(done.stderr[-500:])
            self.linked.add(module)


class Commands:
    """How objects are compiled and modules are linked: what ninja would run, without its search for what to do."""

    def __init__(self):
        self.links, self.compiled, self.originals, self.lock = {}, {}, {}, threading.Lock()
        for line in builds.checked(["ninja", "-C", builds.PLAIN, "-t", "commands"]).split("\n"):
            match = re.search(r" -o (\S+\.o) -c (\S+)$", line)
            if match and match[2].startswith(builds.TREE):
                file = os.path.relpath(match[2], builds.TREE)
                # The second build of the interpreters has tests of its own, which do not run here.
                if "switch_objects" not in match[1]:
                    self.compiled.setdefault(file, []).append((match[1], line))
                continue
            match = re.search(r" -o ((?:bin|lib)/\S+) ", line)
            if match and ".o " in line:
                self.links.setdefault(os.path.basename(match[1]), line)

    def compiles(self, file):
        return self.compiled.get(file, [])

    def original(self, object_file):
        with self.lock:
            if object_file not in self.originals:
                with open(os.path.join(builds.PLAIN, object_file), "rb") as file:
                    self.originals[object_file] = file.read()
            return self.originals[object_file]

    def link(self, module):
        """None for what is not linked from objects."""
        library = os.path.basename(os.path.realpath(os.path.join(builds.PLAIN, "lib", module)))
        return self.links.get(module) or self.links.get(library)


class Campaign:
    def __init__(self, options):
        self.options = options
        self.results = Results(options.results)
        self.commands = Commands()
        self.tests = {t.name: t for t in builds.tests_all()}
        self.reach = reach.Reach()
        self.reach.update(list(self.tests.values()), options.workers)
        self.sound, self.broken, self.lock = set(), set(), threading.Lock()

    # ---- tests ----

    def seconds_of(self, name):
        return self.reach.tests[name][1]

    def modules_of(self, test):
        found = set(self.reach.tests[test.name][2])
        found |= {os.path.basename(w) for w in test.command if w.startswith(builds.PLAIN) and os.path.isfile(w)}
        return sorted(found - {"libcommand_server.so"})  # which has nothing of src/

    def attempt(self, worker, tests):
        """Runs one test, or many cases at once; what failed, or None."""
        seconds = sum(self.seconds_of(t.name) for t in tests)
        worker.link(sorted({m for t in tests for m in self.modules_of(t)}))
        command = builds.command_in(worker.build, tests[0].command) + [t.command[-1] for t in tests[1:]]
        code, _, printed = builds.run_bounded(command, tests[0].environment, 10 * seconds + 5, 30 * seconds + 120,
                                              b"FAIL " if tests[0].is_case else None)
        if code in (0, 77):
            return None
        if tests[0].is_case:
            match = re.search(r"^FAIL (\S+?):", printed, re.M)
            name = "case " + match[1] if match else tests[0].name
            return name if name in self.tests else tests[0].name
        return tests[0].name + (" (time)" if code == "time" else "")

    def is_sound(self, worker, name):
        """Whether a test that failed passes without the change. Asked once for each test."""
        name = name.split(" (time)")[0]
        if name in self.sound:
            return True
        if name in self.broken:
            return False
        objects, linked = worker.changed_objects, worker.linked
        worker.restore()
        passed = self.attempt(worker, [self.tests[name]]) is None
        worker.changed_objects = objects
        worker.apply()
        with self.lock:
            (self.sound if passed else self.broken).add(name)
        if not passed:
            builds.say(f"{name} fails without a change: not used any more")
        return passed

    def batches(self, mutant):
        """The tests that reach the line: a few cases, then whole tests by what they take, then the other cases."""
        names = [n for n in self.reach.tests_at(mutant.file, mutant.change.line) if n in self.tests]
        cases = sorted((n for n in names if self.tests[n].is_case), key=self.seconds_of)
        whole = sorted((n for n in names if not self.tests[n].is_case), key=self.seconds_of)
        mixed = random.Random(f"{mutant.file}:{mutant.change.line}")
        first = cases[: CASES_FIRST // 2]
        rest = cases[CASES_FIRST // 2 :]
        mixed.shuffle(rest)
        first, rest = first + rest[: CASES_FIRST - len(first)], rest[CASES_FIRST - len(first) :]
        found = [first] if first else []
        quick = [n for n in whole if self.seconds_of(n) < 1.5]
        found += [[n] for n in quick]
        found += [rest[i : i + CASES_NEXT] for i in range(0, len(rest), CASES_NEXT)]
        found += [[n] for n in whole if n not in quick]
        return found

    def verdict(self, worker, mutant, text):
        if not worker.compile(mutant, text):
            return "unbuilt", "the compiler"
        if not worker.differs:
            return "equivalent", "the compiler makes the same code of it"
        batches = self.batches(mutant)
        if not batches:
            return "survived", "no test reaches the line"
        worker.apply()
        used, done = 0.0, 0
        for batch in batches:
            batch = [n for n in batch if n not in self.broken]
            seconds = sum(self.seconds_of(n) for n in batch)
            if not batch or used + seconds > self.options.seconds and done:
                continue
            failed = self.attempt(worker, [self.tests[n] for n in batch])
            # A whole test counts when it fails twice: the load of the machine may end one, once.
            if failed and not self.tests[batch[0]].is_case:
                failed = self.attempt(worker, [self.tests[n] for n in batch])
            if failed and self.is_sound(worker, failed):
                return "killed", failed
            used += seconds
            done += len(batch)
        if worker.compile(mutant, text, "-O2") and self.same_when_optimised(worker, mutant):
            return "equivalent", "the compiler makes the same code of it at -O2"
        count = sum(len(b) for b in batches)
        return "survived", f"{done} of {count} tests that reach the line"

    def same_when_optimised(self, worker, mutant):
        objects = [o for o, _ in self.commands.compiles(mutant.file)]
        changed = [open(os.path.join(worker.build, o + ".new"), "rb").read() for o in objects]
        with open(os.path.join(builds.TREE, mutant.file), encoding="utf-8") as file:
            if not worker.compile(mutant, file.read(), "-O2"):
                return False
        return changed == [open(os.path.join(worker.build, o + ".new"), "rb").read() for o in objects]

    def examine(self, worker, mutant):
        with open(os.path.join(builds.TREE, mutant.file), encoding="utf-8") as file:
            text = changes.changed(file.read(), mutant.change)
        since = time.monotonic()
        try:
            result, by = self.verdict(worker, mutant, text)
        except Unlinked:
            result, by = "unbuilt", "the linker"
        finally:
            worker.restore()
        self.results.add(mutant, result, by)
        c = mutant.change
        builds.say(f"{mutant.file}:{c.line}:{c.column} {mutant.words()[4]}: {result}, {by} "
                   f"[{time.monotonic() - since:.1f} s]")

    # ---- what to change ----

    def drawn(self):
        """Mutants without end, by the seed: a line of the files, then a change of the line."""
        names = sorted(f for f in self.commands.compiled
                       if any(fnmatch.fnmatch(f, p) for p in self.options.files) and f.startswith("src/"))
        lines = []
        for name in names:
            with open(os.path.join(builds.TREE, name), encoding="utf-8") as file:
                text = file.read()
            by_line = {}
            for change in changes.changes_of(text):
                by_line.setdefault(change.line, []).append(change)
            lines += [(name, text, by_line[line]) for line in sorted(by_line)]
        if not lines:
            builds.stopped(f"no file matches {' '.join(self.options.files)}")
        builds.say(f"{sum(len(l[2]) for l in lines)} changes of {len(lines)} lines in {len(names)} files; "
                   f"seed {self.options.seed}")
        chosen = random.Random(self.options.seed)
        chosen.shuffle(lines)
        return [Mutant(name, chosen.choice(found), text) for name, text, found in lines]

    def survivors(self):
        """Those that survived, at the line where they are now: the nearest with the same text."""
        found = []
        for row in self.results.rows:
            if row[5] != "survived":
                continue
            with open(os.path.join(builds.TREE, row[0]), encoding="utf-8") as file:
                text = file.read()
            source = text.split("\n")
            here = [Mutant(row[0], c, text) for c in changes.changes_of(text) if source[c.line - 1].strip() == row[7]]
            here = [m for m in here if m.words()[2:5] == row[2:5]]
            if not here:
                builds.say(f"{row[0]}:{row[1]} is no more: {row[7]}")
                continue
            mutant = min(here, key=lambda m: abs(m.change.line - int(row[1])))
            row[1] = str(mutant.change.line)
            found.append(mutant)
        return found

    def run(self):
        if self.options.survivors:
            todo, wanted = self.survivors(), None
        else:
            todo, wanted = [m for m in self.drawn() if not self.results.has(m)], self.options.sample
        todo.reverse()

        def work(number):
            worker = Worker(number, self.commands)
            while True:
                with self.lock:
                    if not todo or wanted is not None and self.results.counted() + busy[0] >= wanted:
                        return
                    mutant = todo.pop()
                    busy[0] += 1
                try:
                    self.examine(worker, mutant)
                finally:
                    with self.lock:
                        busy[0] -= 1

        busy = [0]
        threads = [threading.Thread(target=work, args=(n + 1,)) for n in range(self.options.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def tried(self, place, old, new):
        file, line = place.split(":")
        with open(os.path.join(builds.TREE, file), encoding="utf-8") as stream:
            text = stream.read()
        start = sum(len(l) + 1 for l in text.split("\n")[: int(line) - 1])
        at = text.find(old, start)
        if at < 0:
            builds.stopped(f"no {old} in {file} from line {line} on")
        line = text.count("\n", 0, at) + 1
        change = changes.Change(line, at - text.rfind("\n", 0, at), at, "by hand", old, new)
        self.examine(Worker(1, self.commands), Mutant(file, change, text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", nargs="*")
    parser.add_argument("--results")
    parser.add_argument("--seconds", type=float, default=60, help="processor time of the tests of one change")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--tests-only", action="store_true")
    parser.add_argument("--no-build", action="store_true", help="take the copy and its builds as they are")
    parser.add_argument("--try", dest="place", nargs=3, metavar=("FILE:LINE", "OLD", "NEW"))
    options = parser.parse_args()
    options.files = " ".join(options.files or FILES).split()
    options.results = options.results or os.path.join(builds.HOME, f"results-{options.seed}.tsv")
    if options.place:
        options.results = os.path.join(builds.HOME, "tried.tsv")
    os.makedirs(builds.HOME, exist_ok=True)
    if not options.no_build:
        builds.prepare(options.tests_only)
    campaign = Campaign(options)
    if options.place:
        campaign.tried(*options.place)
        return 0
    campaign.run()
    for row in sorted(campaign.results.rows, key=lambda r: (r[0], int(r[1]))):
        if row[5] == "survived":
            print(f"{row[0]}:{row[1]}:{row[2]}: {row[4]}: {row[6]}\n    {row[7]}")
    print(campaign.results.summary())
    return 0


if __name__ == "__main__":
    sys.exit(main())

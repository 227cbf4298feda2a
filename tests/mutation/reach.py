"""Which test reaches which line.

A block of code is known by the place in the sources where it begins: the same in every program that has
the object file. The lines that belong to a block come from the line table of the tool, which has nearly all."""
import array
import bisect
import os
import pickle
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import builds

STORE = os.path.join(builds.HOME, "reach.pickle")
TOOL = os.path.join(builds.REACHED, "bin", "penta")
NEAR = 12  # lines
SECONDS_MAX = 40  # of processor time: a test that takes more is too dear for one mutant


def blocks_read(path):
    offsets = array.array("Q")
    with open(path, "rb") as file:
        offsets.frombytes(file.read())
    return offsets


def places_of(module, offsets):
    """The place of each offset: "src/x.c:LINE:COLUMN"."""
    done = subprocess.run(["llvm-symbolizer", "--no-inlines", "--functions=none", "-e", module],
                          input="".join(f"{offset:#x}\n" for offset in offsets), capture_output=True, text=True)
    found = [line for line in done.stdout.split("\n") if line]
    if len(found) != len(offsets):
        builds.stopped(f"llvm-symbolizer answers {len(found)} of {len(offsets)} places in {module}")
    return found


def lines_of_blocks(offsets):
    """For each line "src/x.c:LINE", the places of the blocks that have code of it."""
    rows, files, found = [], {}, {}
    dump = subprocess.Popen(["llvm-dwarfdump", "--debug-line", TOOL], stdout=subprocess.PIPE, text=True)
    row = re.compile(r"0x([0-9a-f]{16}) +(\d+) +(\d+) +(\d+) ")
    directories, name, index = {}, None, 0
    for line in dump.stdout:
        match = row.match(line)
        if match:
            rows.append((int(match[1], 16), int(match[2]), int(match[3]), files.get(int(match[4]))))
        elif line.startswith("Line table prologue"):
            files, directories = {}, {}
        elif line.startswith("include_directories["):
            directories[int(re.search(r"\[ *(\d+)\]", line)[1])] = line.split('"')[1]
        elif line.startswith("file_names["):
            index = int(re.search(r"\[ *(\d+)\]", line)[1])
        elif line.lstrip().startswith("name:"):
            name = line.split('"')[1]
        elif line.lstrip().startswith("dir_index:"):
            folder = directories.get(int(line.split(":")[1]), "")
            path = name if "/" in name and not folder else os.path.join(folder, name)
            files[index] = path[path.find("src/"):] if "src/" in path else path
    dump.wait()
    rows.sort(key=lambda r: r[0])
    addresses = [r[0] for r in rows]
    starts = sorted(offsets)
    place = dict(zip(offsets, places_of(TOOL, offsets)))
    for k, start in enumerate(starts):
        end = starts[k + 1] if k + 1 < len(starts) else start + 64
        first = bisect.bisect_right(addresses, start) - 1
        for _, line, _, file in rows[max(first, 0) : bisect.bisect_left(addresses, end)]:
            if file and line:
                found.setdefault(f"{file}:{line}", set()).add(place[start])
    return found


class Reach:
    """`tests`: name to (stamp, processor seconds, modules, places as a number of bits); `ids`: place to its bit."""

    def __init__(self):
        self.tests, self.ids, self.lines = {}, {}, {}
        if os.path.exists(STORE):
            with open(STORE, "rb") as file:
                self.tests, self.ids, self.lines = pickle.load(file)

    def save(self):
        with open(STORE + ".new", "wb") as file:
            pickle.dump((self.tests, self.ids, self.lines), file)
        os.replace(STORE + ".new", STORE)

    def bits_of(self, places):
        bits = 0
        for place in places:
            bits |= 1 << self.ids.setdefault(place, len(self.ids))
        return bits

    def measure(self, test):
        """What a test reaches; one that fails may have met a busy machine, and has another try."""
        measured = self.measure_once(test)
        return measured if measured[1] in (0, 77) else self.measure_once(test)

    def measure_once(self, test):
        """Runs a test in the build that notes what is reached."""
        with tempfile.TemporaryDirectory() as folder:
            code, seconds, printed = builds.run_bounded(builds.command_in(builds.REACHED, test.command),
                                                        {**test.environment, "PENTA_REACHED": folder}, SECONDS_MAX, 300)
            found = {}
            for name in sorted(os.listdir(folder)):
                if name.endswith(".blocks"):
                    continue
                with open(os.path.join(folder, name), "rb") as file:
                    counts = file.read()
                table = os.path.join(builds.HOME, name + ".blocks")
                shutil.copy(os.path.join(folder, name + ".blocks"), table)
                found[name] = [i for i, count in enumerate(counts) if count]
        return test, code, seconds, found, printed

    def update(self, tests, workers):
        """Measures the tests that are new or have changed."""
        todo = [t for t in tests if self.tests.get(t.name, ("",))[0] != t.stamp]
        if not todo:
            return
        builds.say(f"measuring what {len(todo)} of {len(tests)} tests reach")
        reached, indexes, since = [], {}, time.monotonic()
        with ThreadPoolExecutor(workers) as pool:
            for test, code, seconds, found, printed in pool.map(self.measure, todo):
                if code == 77:
                    found = {}
                elif code:
                    builds.say(f"{test.name} fails without a change ({code}): not used\n{printed[-300:]}")
                    found = {}
                reached.append((test, seconds, found))
                for name, hits in found.items():
                    indexes.setdefault(name, set()).update(hits)
        place = {}
        for name, hits in indexes.items():
            folder = "lib" if ".so" in name else "bin"
            offsets = blocks_read(os.path.join(builds.HOME, name + ".blocks"))
            hits = sorted(hits)
            places = places_of(os.path.join(builds.REACHED, folder, name), [offsets[i] for i in hits])
            place[name] = dict(zip(hits, places))
        for test, seconds, found in reached:
            places = {place[name][i] for name, hits in found.items() for i in hits}
            self.tests[test.name] = (test.stamp, seconds, sorted(found), self.bits_of(places))
        if not self.lines:
            self.lines = lines_of_blocks(blocks_read(os.path.join(builds.HOME, "penta.blocks")))
        self.save()
        builds.say(f"measured in {time.monotonic() - since:.0f} s")

    def tests_in(self, places):
        """Names of the tests that reach one of these places."""
        bits = 0
        for place in places:
            if place in self.ids:
                bits |= 1 << self.ids[place]
        return [name for name, entry in self.tests.items() if entry[3] & bits]

    def tests_at(self, file, line):
        """Names of the tests that reach a line; of the nearest line above it, where it has no code of its own. A line whose
        code was inlined or moved has none that is counted: then those that reach a line near it."""
        for above in range(line, max(line - NEAR, 0), -1):
            places = self.lines.get(f"{file}:{above}")
            if places:
                found = self.tests_in(places)
                if found:
                    return found
                break
        around = range(max(line - NEAR, 1), line + NEAR + 1)
        return self.tests_in(set().union(*(self.lines.get(f"{file}:{near}", ()) for near in around)))

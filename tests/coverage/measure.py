#!/usr/bin/env python3
"""Which lines and branches of src/ the tests of `make test` reach, by folder.

    tests/coverage/measure.py [--tests REGEX] [--jobs N] [--report]

Builds in build/coverage/build, runs the tests of `make test` that run this build there, prints a table and writes every
file with its counts to build/coverage/index.html. Fails when a folder has less than 85 % of its lines and no sentence in
reasons.txt, when a sentence is no longer needed, and when a test fails.

Measured with clang's counters and not with gcov's. clang's can be a file that all processes of one program map
(`%c` in its name, and -runtime-counter-relocation): a process that ends by _exit, a signal or exec loses nothing, the
child of a fork counts on, and none of the thousands of processes reads or writes anything when it ends. gcov reads,
adds up and writes a file for each object at each end of a process, and forgets what _exit and signals end. Lines of
included .def files count in both; clang's branches are those of the source text."""
import argparse
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.path.join(ROOT, "build", "coverage")
BUILD = os.path.join(HOME, "build")
COUNTS = os.path.join(HOME, "counts")
MERGED = os.path.join(HOME, "counts.profdata")
REASONS = os.path.join(ROOT, "tests", "coverage", "reasons.txt")
LINES_WANTED = 85
FILE_LINES_LOW = 60

# Tests that need another build, that look at the sources and not at what the code does, and that run whole builds.
OTHER = (r"-asan$|-asan-|-tsan$|^properties-|^(format|layers|symbols|docs|grammars|package|sixth-format|web|fuzz-seeds|"
         r"guest-native)$|^plain-clone|^cross")

# The programs and libraries that together have every object of the build.
OBJECTS = ["bin/penta", "bin/web_requests", "lib/libpenta_cvbc.so", "libexec/penta/penta-device", "lib/coil_runtime.so"]


def stopped(text):
    raise SystemExit(f"coverage: {text}")


def checked(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, **options)
    if done.returncode:
        stopped(f"{' '.join(command)}\n{done.stdout[-4000:]}")
    return done.stdout


def build():
    flags = (f"-O1 -DNDEBUG -fprofile-instr-generate={COUNTS}/%c%m.profraw -fcoverage-mapping "
             "-Xclang -mllvm -Xclang -runtime-counter-relocation")
    linker = "-fuse-ld=mold" if shutil.which("mold") else ""
    # Counters of a static function are known by its name and that of the file, of which clang takes the last part:
    # verify.c of one format would be verify.c of all.
    compile_object = ("<CMAKE_C_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -Xclang -main-file-name -Xclang <SOURCE> "
                      "-fcoverage-prefix-map=/=/ -o <OBJECT> -c <SOURCE>")
    checked(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang",
             f"-DCMAKE_C_FLAGS_RELEASE={flags}", f"-DCMAKE_C_COMPILE_OBJECT={compile_object}",
             f"-DCMAKE_EXE_LINKER_FLAGS={linker}", f"-DCMAKE_SHARED_LINKER_FLAGS={linker}"])
    checked(["cmake", "--build", BUILD])
    runtime_complete()


def runtime_complete():
    """Adds what writes the counts to libpenta_coil.a: the system's cc links programs with it, which knows no counters."""
    archive = os.path.join(BUILD, "lib", "libpenta_coil.a")
    whole = os.path.join(BUILD, "penta_coil-counted.o")
    if os.path.exists(whole) and os.path.getmtime(whole) >= os.path.getmtime(archive):
        return
    counters = checked(["clang", "-print-file-name=libclang_rt.profile-x86_64.a"]).strip()
    if not os.path.exists(counters):
        counters = os.path.join(checked(["clang", "-print-runtime-dir"]).strip(), "libclang_rt.profile.a")
    runtime = os.path.join(BUILD, "CMakeFiles", "penta_coil_runtime.dir", "src/formats/coil/runtime/runtime.c.o")
    checked(["ld", "-r", "-o", whole, runtime, os.path.join(BUILD, "lib", "libpenta_internal.a"),
             "-u", "__llvm_profile_runtime", counters])
    os.remove(archive)
    checked(["ar", "rcsD", archive, whole])
    os.utime(whole)
    checked(["cc", "-shared", "-o", os.path.join(BUILD, "lib", "coil_runtime.so"), whole, "-lm"])


def run_tests(only, jobs):
    """Runs the tests and returns what CTest says of those that failed."""
    shutil.rmtree(COUNTS, ignore_errors=True)
    done = subprocess.run(["ctest", "--test-dir", BUILD, f"-j{jobs}", "-LE", "^long$", "-E", OTHER, "--no-tests=error",
                           "--output-on-failure", "-O", os.path.join(HOME, "tests.log"), *(["-R", only] if only else [])],
                          cwd=ROOT)
    return done.returncode == 0


def folder_of(path):
    """The row of the table that counts a file: a layer or a folder in it, a format or a role in it."""
    parts = path.split("/")[:-1]
    return "/".join(parts[: 4 if parts[1] == "formats" else 3])


def measured():
    """Counts of lines and branches of each file under src/: (lines, reached, branches, reached)."""
    raw = [os.path.join(COUNTS, name) for name in os.listdir(COUNTS)]
    checked(["llvm-profdata", "merge", "-sparse", *raw, "-o", MERGED])
    objects = [os.path.join(BUILD, name) for name in OBJECTS]
    arguments = ["-instr-profile", MERGED, objects[0], *(word for name in objects[1:] for word in ("-object", name))]
    done = subprocess.run(["llvm-cov", "export", "-summary-only", *arguments], stdout=subprocess.PIPE, cwd=ROOT)
    if done.returncode:
        stopped("llvm-cov export fails")
    found = {}
    for entry in json.loads(done.stdout)["data"][0]["files"]:
        path = os.path.relpath(os.path.join(ROOT, entry["filename"]), ROOT)
        if path.startswith("src/"):
            lines, branches = entry["summary"]["lines"], entry["summary"]["branches"]
            found[path] = (lines["count"], lines["covered"], branches["count"], branches["covered"])
    # A name may have a way through the folder of the build: -path-equivalence is what takes that out here.
    checked(["llvm-cov", "show", "-format=html", f"-output-dir={HOME}", "-show-branches=count", *arguments,
             f"-path-equivalence={BUILD}/../../..,{ROOT}", *(os.path.join(ROOT, path) for path in sorted(found))])
    return found


def compiled_files():
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        return {os.path.relpath(entry["file"], ROOT) for entry in json.load(file)}


def reasons():
    found = {}
    with open(REASONS, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                folder, _, text = line.strip().partition(" ")
                if not text.strip().endswith("."):
                    stopped(f"{REASONS}: {folder} wants a sentence")
                found[folder] = text.strip()
    return found


def percent(reached, all_of_them):
    return f"{100 * reached / all_of_them:5.1f}" if all_of_them else "    -"


def report(found):
    """Prints the table and returns what is wrong with it."""
    told, wrong, rows = reasons(), [], {}
    for path, counts in found.items():
        row = rows.setdefault(folder_of(path), [0, 0, 0, 0])
        rows[folder_of(path)] = [a + b for a, b in zip(row, counts)]
    left_out, compiled = [], compiled_files()
    for base, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            path = os.path.relpath(os.path.join(base, name), ROOT)
            if name.endswith(".c") and path not in compiled:
                left_out.append(path)
                rows.setdefault(folder_of(path), [0, 0, 0, 0])
    print(f"\n{'folder':32} {'lines':>6} {'reached':>7} {'branches':>9} {'reached':>7}")
    for folder, (lines, reached, branches, taken) in sorted(rows.items()):
        if not lines and not any(folder_of(path) == folder for path in left_out):
            continue
        low = 100 * reached < LINES_WANTED * lines or not lines
        why = told.pop(folder, None)
        print(f"{folder:32} {lines:6} {percent(reached, lines):>7} {branches:9} {percent(taken, branches):>7}"
              f"{'  ' + why if why else ''}")
        if low and not why:
            wrong.append(f"{folder} is below {LINES_WANTED} % of lines and reasons.txt does not say why")
        elif why and not low:
            wrong.append(f"reasons.txt: {folder} needs no reason any more")
    wrong += [f"reasons.txt: no folder {folder}" for folder in told]
    lines, reached, branches, taken = (sum(column) for column in zip(*rows.values()))
    print(f"{'src':32} {lines:6} {percent(reached, lines):>7} {branches:9} {percent(taken, branches):>7}")
    low = sorted((c[1] / c[0], path) for path, c in found.items() if c[0] and 100 * c[1] < FILE_LINES_LOW * c[0])
    print(f"\nfiles below {FILE_LINES_LOW} %:" if low else f"\nno file is below {FILE_LINES_LOW} %")
    for share, path in low:
        print(f"  {100 * share:5.1f}  {path}")
    print("not in this build:", *(f"  {path}" for path in sorted(left_out)), sep="\n")
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tests", help="only those with such a name; no folder is then too low")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--report", action="store_true", help="the table of the last run again")
    options = parser.parse_args()
    passed = True
    if not options.report:
        build()
        passed = run_tests(options.tests, options.jobs)
    wrong = report(measured())
    shared = os.path.isdir(os.path.join(ROOT, "..", "shared"))
    print(f"../shared is {'there: tests that know it used it' if shared else 'not there: tests that want it were skipped'}")
    print(f"HTML: {os.path.relpath(HOME, ROOT)}/index.html")
    if options.tests:
        wrong = []
    if not passed:
        wrong.append("tests failed: build/coverage/tests.log")
    for text in wrong:
        print("coverage:", text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

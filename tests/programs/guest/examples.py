#!/usr/bin/env python3
"""The guest kit: programs in C and C++, compiled by penta-cc, linked and run on both engines.

    tests/programs/guest/examples.py PENTA

Skipped where penta-cc has no compiler.
"""
import hashlib
import os
import shutil
import sys

import kit
from kit import CC, compile_program, run
from support import PENTA, ROOT, equal, penta, run_program, write

LISP = b"""(define (fact n) (if (< n 2) 1 (* n (fact (- n 1)))))
(fact 12) ; a comment
(define (range a b) (if (= a b) '() (cons a (range (+ a 1) b))))
(define (map f l) (if (null? l) '() (cons (f (car l)) (map f (cdr l)))))
(map (lambda (x) (* x x)) (range 0 8))
(define (loop n s) (if (= n 0) s (loop (- n 1) (+ s n))))
(loop 10000 0)
(let ((a 1) (b 2)) (set! a 10) (list a b (/ 7 b) (% 7 b) (- b)))
(car 5)
(unknown 1)
(cons 1 2)
"""
LISP_OUT = b"""fact
479001600
range
map
(0 1 4 9 16 25 36 49)
loop
50005000
(10 2 3 1 -2)
error: not a list
error: unknown: unknown
(1 . 2)
"""
SHAPES = b"""before main
square 2.2500
circle 12.5664
2 shapes, 14.81637061 in all
1 alive, 9
0 alive, 42
after main
"""


def examples(work, *options):
    def program(source):
        return compile_program(work, f"examples/guest/{source}", "-O2", *options)
    hello = program("hello.c")
    equal("hello", run(hello), (0, b"hello, world\n", b""))
    equal("hello you", run(hello, "you"), (0, b"hello, you\n", b""))
    sha256 = program("sha256.c")
    for size in (0, 3, 55, 56, 63, 64, 65, 5000):
        data = bytes(i * 7 % 256 for i in range(size))
        equal("sha256", run(sha256, data=data), (0, hashlib.sha256(data).hexdigest().encode() + b"  -\n", b""))
    life = program("life.c")
    code, out, _ = run(life, "4", "--seed", "1")
    frames = out.decode().split("\033[H")
    equal("life", (code, len(frames)), (0, 6))
    moved = [line[1:] for line in frames[5].splitlines()[1:]]     # a glider: one down, one right
    first = [line for line in frames[1].splitlines()[1:]]
    cells = {(2 * y + dy, x) for y, line in enumerate(first) for x, c in enumerate(line)
             for dy in (0, 1) if c == "\u2588" or c == "\u2580\u2584"[dy]}
    later = {(2 * y + dy, x) for y, line in enumerate(moved) for x, c in enumerate(line)
             for dy in (0, 1) if c == "\u2588" or c == "\u2580\u2584"[dy]}
    equal("glider", later, {(y + 1, x) for y, x in cells})
    equal("glider's cells", len(cells), 5)
    equal("life is the same with a seed", run(life, "9", "soup", "--seed", "5"), run(life, "9", "soup", "--seed", "5"))
    lisp = program("lisp.c")
    equal("lisp", run(lisp, data=LISP), (1, LISP_OUT, b""))
    aligned = compile_program(work, "examples/guest/lisp.c", "-O2", "-falign-functions=16", "-falign-loops=16", *options)
    equal("aligned code", run(aligned, data=b"(* 6 7)"), (0, b"42\n", b""))
    equal("c++", run(program("shapes.cpp")), (0, SHAPES, b""))


def against_native(work):
    """The same source for this machine and as a guest, with the same input, each in a folder of its own."""
    native, data = os.path.join(work, "native"), b"a\nb\n\nlast"
    for name, words, levels in (("program", ["60"], ("-O0", "-O2")), ("strings", [], ("-O2",)), ("wide", [], ("-O2",)),
                                ("files", [], ("-O2",)), ("complex", [], ("-O2",))):
        source = f"tests/programs/guest/{name}.c"
        for bits, define in ((64, "-DWIDE"), (32, "-DNARROW")):
            run_program("cc", "-O1", "-w", define, os.path.join(ROOT, source), "-o", native, "-lm", needed=True)
            for level in levels:
                program = compile_program(work, source, level, define, f"-m{bits}", "-Wno-format")
                expected = run_program(native, *words, data=data, cwd=folder_new(work), env={**os.environ, "TZ": "UTC"})
                equal(f"{name}.c {bits} {level}", run(program, *words, "--files", folder_new(work), data=data),
                      (expected.returncode, expected.stdout, expected.stderr))


def folder_new(work):
    folder = os.path.join(work, "files")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def own_names(work):
    """Names that are not reserved belong to the program, also where the library has functions of these names."""
    source = os.path.join(work, "names.c")
    write(source,
          """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int read(int n) { return n + 1; }
int write(int n) { return n + 2; }
int sleep(int n) { return n + 3; }
int usleep(int n) { return n + 4; }
int system_write(int n) { return n + 5; }
void print_double(double x) { printf("%g\\n", x); }
void sink_text(void) { puts("text"); }
int real_add(int n) { return n + 6; }
int main(void)
{
    sink_text();
    print_double(atof("0.5"));
    printf("%d\\n", read(write(sleep(usleep(system_write(real_add(log(atof("2")) < time(NULL))))))));
    return 0;
}
""")
    equal("own names", run(compile_program(work, source, "-O2")), (0, b"text\n0.5\n22\n", b""))


def errors(work):
    def cc(text, *options, suffix=".c"):
        source = os.path.join(work, "e" + suffix)
        write(source, text)
        done = run_program(CC, *options, source, "-o", os.path.join(work, "e.polkavm"), text=True, env={**os.environ, "PENTA": PENTA})
        return done.returncode, done.stderr
    code, text = cc("int main(void) { return missing(); }", "-Wno-implicit-function-declaration", "-std=c99")
    equal("undefined function", (code != 0, "missing" in text), (True, True))
    code, text = cc("int main(void) { return 1 }")
    equal("syntax error", (code != 0, "e.c:1:" in text and "error: expected" in text), (True, True))
    code, text = cc("#include <assert.h>\nint main(int c, char **v) { (void)v; assert(c == 2); return 0; }")
    done = penta("run", "-q", os.path.join(work, "e.polkavm"), text=True)
    equal("assert", (code, done.returncode, "e.c:2: main: assertion failed: c == 2" in done.stderr), (0, 20, True))
    code, text = cc("int f(int n) { volatile char a[4096]; a[0] = n; return n ? f(n - 1) + a[0] : 0; }\n"
                    "int main(void) { return f(1000000); }", "-O1")
    done = penta("run", "-q", os.path.join(work, "e.polkavm"), text=True)
    equal("deep recursion", (done.returncode, "stack exhausted" in done.stdout), (20, True))
    code, text = cc("int main(void) { return 0; }", "--stack", "nonsense")
    equal("bad option", code != 0, True)
    equal("no input", run_program(CC, "-O2").returncode, 2)
    help_text = run_program(CC, "--help", text=True).stdout
    equal("help", help_text.startswith("usage: penta-cc"), True)


def separate(work):
    """Objects compiled alone, and a program without main."""
    for name, text in (("one.c", "int two(void);\nint main(void) { return two(); }\n"),
                       ("two.c", "int two(void) { return 42; }\n"),
                       ("lib.c", "#include <penta_guest.h>\nPENTA_IMPORT(long, twice, long);\nstatic long sum;\n"
                                 "long add(long a, long b) { return sum += twice(a) + b; }\nPENTA_EXPORT(add, 2);\n")):
        write(os.path.join(work, name), text)
    env = {**os.environ, "PENTA": PENTA}
    for command in ([CC, "-c", "-O1", "one.c"], [CC, "-c", "two.c", "-o", "b.o"], [CC, "one.o", "b.o", "-o", "prog"],
                    [CC, "-O2", "lib.c", "-o", "lib.polkavm"]):
        done = run_program(*command, cwd=work, env=env, text=True)
        equal(" ".join(command), (done.returncode, done.stderr), (0, ""))
    equal("two objects", run(os.path.join(work, "prog")), (42, b"", b""))
    host = os.path.join(work, "twice.host")
    write(host, "twice(10) = 20\ntwice(1) = 2\n")
    done = penta("run", "-q", "lib.polkavm", "--host", host, "--exit-value", "--call", "add", "--arg", "10", "--arg", "3", "--call",
                 "add", "--arg", "1", "--arg", "5", cwd=work)
    equal("exports", done.returncode, 30)


def examples32(work):
    examples(work, "-m32")


sys.exit(kit.main(examples, examples32, against_native, own_names, errors, separate))

#!/usr/bin/env python3
"""COIL compiled ahead of time: every case and program runs as a native program, linked by the system's cc,
and prints and returns what the interpreter does; C and COIL call each other; debuggers find lines.

    tests/programs/coil_native.py PENTA CASES PROGRAMS
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from support import PENTA, assembled, expect, in_one_folder, penta, run_program, tests_of, write

CASES = os.path.abspath(sys.argv[2])
PROGRAMS = os.path.abspath(sys.argv[3])


def compiled(name, text, *options):
    """The program, linked; what went wrong is a failure of the test."""
    path = assembled(name + ".casm", text, *options)
    done = penta("compile", path, "-o", name)
    return name if expect(done.returncode == 0, name + " compiles", done.stderr.decode()) else None


# ---- every case has the same meaning ----

# What a machine refuses is, without one, a fault of the process, or nothing at all.
REFUSED = ("NULL_POINTER", "BOUNDS_VIOLATION", "PROTECTION_VIOLATION", "STACK_OVERFLOW", "STACK_UNDERFLOW",
           "BAD_TARGET", "BAD_FREE")


def same_meaning(name, path, *options):
    """Runs it both ways. False: the program is none that native code is for."""
    done = penta("run", path, "--json", "--engine", "interp", "--fuel", "20000000", *options)
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return False
    if document.get("stop") not in ("halt", "trap") or document.get("code") in REFUSED:
        return False
    made = penta("compile", path, "-o", "native")
    if made.returncode:
        text = made.stderr.decode()
        expect("little-endian" in text or "relocatable object" in text, name, text)
        return False
    native = run_program("./native")
    wanted = 20 if document["stop"] == "trap" else int(document["registers"].get("v0", "0"), 0) & 0xFF
    expect(native.returncode == wanted and native.stdout.decode() == document.get("output", ""), name,
           (native.returncode, wanted, native.stdout[:200], document.get("output", "")[:200], native.stderr[:200]))
    return True


def test_cases():
    compared = 0
    for name in sorted(os.listdir(CASES)):
        text = open(os.path.join(CASES, name), encoding="utf-8").read()
        source = re.search(r"^-- asm\n(.*?)(?=^-- |\Z)", text, re.M | re.S)
        if not source or "-- error" in text or "-- args" in text:
            continue
        write("case.casm", source.group(1))
        if penta("asm", "case.casm", "-o", "case.coil").returncode == 0:
            compared += same_meaning(name, "case.coil")
    print(f"{compared} cases compared")
    expect(compared > 20, "enough cases", compared)


def test_programs():
    compared = 0
    for name in sorted(os.listdir(PROGRAMS)):
        if name.endswith(".casm") and penta("asm", os.path.join(PROGRAMS, name), "-o", "case.coil").returncode == 0:
            compared += same_meaning(name, "case.coil")
    expect(compared > 10, "enough programs", compared)


# ---- C and COIL ----

CALLER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t add(int64_t a, int64_t b);
double mix(int8_t a, double b, uint16_t c, float d, int32_t e, double f, uint64_t g, int64_t h);
float half(float x);
void count(void);
extern int32_t counter;
int64_t fib(int64_t n);
int64_t apply(int64_t (*f)(int64_t), int64_t x);
int32_t compare(uint64_t a, uint64_t b);
int64_t uses_saved(void);

int64_t twice(int64_t x) { return 2 * x; }
int64_t eight(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
double nine(double a, double b, double c, double d, double e, double f, double g, double h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
int32_t narrow(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f)
{
    return a == -1 && b == 255 && c == -1 && d == 65535 && e == -1 && f == 0xffffffffu;
}

int main(void)
{
    int32_t values[] = {5, -3, 9, 0, 7};
    printf("%ld\n", (long)add(40, 2));
    printf("%g\n", mix(-1, 2.5, 65535, 0.5f, -4, 8.0, 1000, -1));
    printf("%g\n", half(3.0f));
    count();
    count();
    printf("%d\n", (int)counter);
    printf("%ld\n", (long)fib(20));
    printf("%ld %ld\n", (long)apply(twice, 21), (long)apply(fib, 10));
    qsort(values, 5, 4, (int (*)(const void *, const void *))compare);
    for (int i = 0; i < 5; i++) printf("%d ", (int)values[i]);
    printf("\n");
    printf("%ld\n", (long)uses_saved());
    return 0;
}
"""

CALLED = """
.global add, mix, half, count, counter, fib, apply, compare, uses_saved
.proto add, i64(i64, i64)
.proto mix, f64(i8, f64, u16, f32, i32, f64, u64, i64)
.proto half, f32(f32)
.proto count, void()
.proto compare, i32(u64, u64)
.proto eight, i64(i64, i64, i64, i64, i64, i64, i64, i64)
.proto nine, f64(f64, f64, f64, f64, f64, f64, f64, f64)
.proto narrow, i32(i8, u8, i16, u16, i32, u32)
.proto printf, i32(u64, ...)
.func add
    VAR %a, i64
    MOV %a, v0
    ADD %a, i64 %a, v1
    MOV v0, %a
    RET
.endfunc
.func mix
    VAR %x, f64, 0.0
    VAR %i, i64
    VAR %d, f64
    VAR %s, f32
    MOV %i, v0
    ADD %x, %i
    MOV %d, v1
    ADD %x, %d
    MOV %i, v2
    ADD %x, %i
    MOV %s, v3
    ADD %x, %s
    MOV %i, v4
    ADD %x, %i
    MOV %d, v5
    ADD %x, %d
    MOV %i, v6
    ADD %x, %i
    MOV %i, v7
    ADD %x, %i
    MOV v0, %x
    RET
.endfunc
.func half
    VAR %s, f32
    MOV %s, v0
    DIV %s, 2.0
    MOV v0, %s
    RET
.endfunc
.func count
    INC i32 @counter
    RET
.endfunc
.func fib
    VAR %n, i64
    MOV %n, v0
    CMP %n, 2
    RET LT
    VAR %t, i64
    SUB %t, %n, 1
    MOV v0, %t
    CALL @fib
    VAR %r, i64
    MOV %r, v0
    SUB %n, 2
    MOV v0, %n
    CALL @fib
    ADD %r, i64 %r, v0
    MOV v0, %r
    RET
.endfunc
.func apply
    VAR %f, u64
    MOV %f, v0
    MOV v0, v1
    CALL %f
    RET
.endfunc
.func compare
    VAR %p, u64
    VAR %q, u64
    MOV %p, v0
    MOV %q, v1
    VAR %a, i64
    MOV %a, i32 [%p]
    SUB %a, i32 [%q]
    MOV v0, %a
    RET
.endfunc
.func uses_saved
    VAR %i, i64
    VAR %x, f64
    MOV v0, 1
    MOV v1, 2
    MOV v2, 3
    MOV v3, 4
    MOV v4, 5
    MOV v5, 6
    MOV v6, 7
    MOV v7, 8
    CALL @eight
    OUTPORT 2, v0
    MOV v0, f64 1.0
    MOV v1, f64 2.0
    MOV v2, f64 3.0
    MOV v3, f64 4.0
    MOV v4, f64 5.0
    MOV v5, f64 6.0
    MOV v6, f64 7.0
    MOV v7, f64 8.0
    CALL @nine
    MOV %x, v0
    MOV v0, @text
    MOV v1, f64 %x
    MOV v2, -5
    MOV v3, f32 0.25
    MOV v4, 77
    MOV v5, 78
    MOV v6, 79
    MOV v7, 80
    CALL @printf
    MOV v0, i8 -1
    MOV v1, 255
    MOV v2, -1
    MOV v3, 0xffff
    MOV v4, -1
    MOV v5, 0xffffffff
    CALL @narrow
    RET
.endfunc
.data
counter: .i32 40
.rodata
text: .asciz "%g %d %g %d %d %d %d\\n"
"""


def test_c_and_coil_call_each_other():
    path = assembled("called.casm", CALLED)
    open("caller.c", "w").write(CALLER)
    done = penta("compile", path, "-o", "called.o")
    expect(done.returncode == 0, "object", done.stderr.decode())
    wanted = "42\n66540\n1.5\n42\n6765\n42 55\n-3 0 5 7 9 \n204\n204 -5 0.25 77 78 79 80\n1\n".splitlines()
    for more in ([], ["-no-pie"], ["-O2", "-static"]):
        # V6 and V7 are in the thread's machine, which the object brings along; nothing else is linked.
        done = run_program("cc", *more, "caller.c", "called.o", "-o", "caller")
        if expect(done.returncode == 0, f"cc {more}", done.stderr.decode()):
            done = run_program("./caller")
            got = done.stdout.decode().splitlines()
            expect(done.returncode == 0 and got == wanted, f"calls {more}", (done.returncode, got))
    done = run_program("cc", "-shared", "called.o", "-o", "called.so", "-Wl,--unresolved-symbols=ignore-all")
    expect(done.returncode == 0, "shared library", done.stderr.decode())


def test_two_objects():
    """Data, functions and tables of one COIL object in another, linked by the system."""
    one = assembled("one.casm", """
.global main
.func main
    VAR %p, u64
    MOV %p, u64 @table
    CALL %p
    MOV i64 @shared, i64 30
    CALL @other
    ADD v0, 2
    RET
.endfunc
.func local
    MOV v0, 1
    OUTPORT 2, v0
    RET
.endfunc
.data
table: .addr @local
""")
    two = assembled("two.casm", """
.global other, shared
.comm buffer, 64
.func other
    MOV i64 @buffer, i64 10
    MOV v0, i64 @shared
    ADD v0, i64 @buffer
    RET
.endfunc
.data
shared: .i64 0
""")
    for path in (one, two):
        expect(penta("compile", path, "-o", path[:-5] + ".o").returncode == 0, "compile " + path)
    done = run_program("cc", "one.o", "two.o", "-o", "both")
    expect(done.returncode == 0, "two objects", done.stderr.decode())
    done = run_program("./both")
    expect((done.returncode, done.stdout) == (42, b"1\n"), "two objects run", done)


def test_example():
    path = os.path.join(os.path.dirname(CASES), "..", "..", "examples", "coil", "hello.casm")
    expect(penta("compile", path, "-o", "hello").returncode == 0, "compile the example")
    expect(run_program("./hello").stdout.startswith(b"the root of 2 is 1.414\nthe root of 9 is 3.000\n"), "example")


def test_text_and_what_a_trap_says():
    write("traps.casm", ".global main\n.func main\n    TRAP 77\n.endfunc\n")
    expect(penta("compile", "traps.casm", "-o", "traps").returncode == 0, "compile text")
    done = run_program("./traps")
    expect((done.returncode, done.stderr) == (20, b"trap TRAP, code 77\n"), "trap", done)
    open("traps.casm", "w").write("nonsense\n")
    for target in ("cpu, arm, a64", "cpu, riscv, rv64", "cpu, x86, x32", "gpu, any, any", "npu, any, any", "dsp, any, v64"):
        write("other.casm", f".target {target}\n.align code\n.global main\n.func main\n    MOV v0, 0\n    RET\n.endfunc\n")
        expect(penta("asm", "other.casm", "-o", "other.coil").returncode == 0, "asm for " + target)
        for path in ("other.casm", "other.coil"):
            for made in ("other", "other.o", "other.s"):
                done = penta("compile", path, "-o", made)
                expect(done.returncode == 1 and b"COIL0079" in done.stderr and not os.path.exists(made), f"compile {path} for {target}",
                       done.stderr.decode())
    write("own.casm", ".global main\n.func main\n    PPTARG param0 1, param1 2\n    NOP\n    MOV v0, 0\n    RET\n.endfunc\n")
    expect(b"COIL0079" in penta("compile", "own.casm", "-o", "own.o").stderr and not os.path.exists("own.o"), "PPTARG for ARM")
    expect(b"traps.casm:1:1" in penta("compile", "traps.casm", "-o", "traps").stderr, "wrong text")
    open("empty.coil", "w").close()
    expect(b"the file is empty" in penta("compile", "empty.coil", "-o", "traps").stderr, "empty object")


def test_address_of_an_exported_function_in_a_shared_library():
    path = assembled("callback.casm", """
.proto qsort, void(u64, u64, u64, u64)
.proto compare, i32(u64, u64)
.global compare, sort
.func compare
    VAR %p, u64
    VAR %q, u64
    VAR %x, i32
    MOV %p, v0
    MOV %q, v1
    MOV %x, i32 [%p]
    SUB %x, i32 [%q]
    MOV v0, %x
    RET
.endfunc
.func sort
    MOV v2, u64 4
    MOV v3, @compare
    CALL @qsort
    RET
.endfunc
""")
    expect(penta("compile", path, "-o", "callback.o").returncode == 0, "compile")
    done = run_program("cc", "-shared", "callback.o", "-o", "libcallback.so")
    expect(done.returncode == 0, "shared library", done.stderr.decode())
    open("sorts.c", "w").write("""#include <stdio.h>
void sort(int *, unsigned long);
int main(void) { int a[] = {3, -1, 2}; sort(a, 3); printf("%d %d %d\\n", a[0], a[1], a[2]); }
""")
    done = run_program("cc", "sorts.c", "-L.", "-lcallback", "-Wl,-rpath," + os.getcwd(), "-o", "sorts")
    if expect(done.returncode == 0, "linked", done.stderr.decode()):
        expect(run_program("./sorts").stdout == b"-1 2 3\n", "sorted")


def test_linker_that_hangs():
    """The deadline and Ctrl-C end the linker with the processes that it started; the old program stays as it is."""
    write("hangs", "#!/bin/sh\nsleep 1000 &\necho $! > sleeper\necho half > \"$3\"\nwait\n")
    os.chmod("hangs", 0o755)
    write("hung.casm", ".global main\n.func main\n RET\n.endfunc\n")
    os.mkdir("hung")
    write("hung/program", "old")
    for ended, more in ((25, ["--timeout", "0.2"]), (130, [])):
        if os.path.exists("sleeper"):
            os.remove("sleeper")
        process = subprocess.Popen([PENTA, "compile", "hung.casm", "-o", "hung/program", *more], stderr=subprocess.PIPE,
                                   env={**os.environ, "CC": os.path.abspath("hangs")})
        while not (os.path.exists("sleeper") and open("sleeper").read().strip()):
            if process.poll() is not None:
                break  # the deadline came before
            time.sleep(0.01)
        if not more:
            process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        expect(process.returncode == ended and (not more or b"deadline" in said), "linker that hangs", (process.returncode, said))
        expect(os.listdir("hung") == ["program"] and open("hung/program").read() == "old", "nothing half-written", os.listdir("hung"))
        if os.path.exists("sleeper") and open("sleeper").read().strip():
            number = int(open("sleeper").read())
            for _ in range(500):
                try:
                    if open(f"/proc/{number}/stat").read().rsplit(")", 1)[1].split()[0] == "Z":
                        break
                except FileNotFoundError:
                    break
                time.sleep(0.01)
            else:
                expect(False, "its processes end", number)


def test_arguments_on_the_data_stack():
    path = assembled("ten.casm", """
.proto ten, i64(i64, f64, i64, i64, i64, i64, i64, i64, i64, f64, i32)
.global main
.func main
    VAR %a, i64
    MOV v0, 1
    MOV v1, f64 2.0
    MOV v2, 3
    MOV v3, 4
    MOV v4, 5
    MOV v5, 6
    MOV v6, 7
    MOV v7, 8
    PUSH i64 -11
    PUSH f64 10.0
    PUSH i64 9
    CALL @ten
    OUTPORT 2, v0
    POP %a
    OUTPORT 2, %a
    MOV v0, 0
    RET
.endfunc
""")
    open("ten.c", "w").write("""
#include <stdint.h>
#include <stdio.h>
int64_t ten(int64_t a, double b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h, int64_t i, double j, int32_t k)
{
    printf("%ld %g %ld %ld %ld %ld %ld %ld %ld %g %d\\n", a, b, c, d, e, f, g, h, i, j, k);
    return 99;
}
""")
    penta("compile", path, "-o", "ten.o")
    done = run_program("cc", "ten.c", "ten.o", "-o", "ten", "-L" + os.path.join(os.path.dirname(PENTA), "../lib"), "-lpenta_coil", "-lm")
    expect(done.returncode == 0, "eleven arguments link", done.stderr.decode())
    done = run_program("./ten")
    expect(done.stdout == b"1 2 3 4 5 6 7 8 9 10 -11\n99\n9\n", "eleven arguments", done)


# ---- debuggers ----

LINES = """.global main
.func leaf
    OUTPORT 2, v0
    RET
.endfunc
.func main
    MOV v0, 7
    CALL @leaf
    MOV v0, 8
    CALL @leaf
    MOV v0, 0
    RET
.endfunc
"""


def test_debugger_finds_lines():
    if not shutil.which("gdb"):
        print("no gdb: skipped")
        return
    if not compiled("lines", LINES, "-g"):
        return
    done = run_program("gdb", "-batch", "-nx", "-ex", "break lines.casm:10", "-ex", "run", "-ex", "info line", "-ex", "bt", "-ex",
                       "continue", "./lines")
    text = done.stdout.decode()
    if "ptrace" in text + done.stderr.decode():
        print("no ptrace here: skipped")
        return
    expect(re.search(r"Breakpoint 1, main \(\) at lines.casm:10", text), "breakpoint on a line", text)
    expect("exited normally" in text, "program goes on", text)
    names = run_program("nm", "-S", "lines").stdout.decode()
    expect(re.search(r"^\w+ 0{8}[0-9a-f]*[1-9a-f][0-9a-f]* [tT] main$", names, re.M), "symbols with sizes", names)


def test_frames_unwind():
    """A C function that COIL calls walks over its frames to main."""
    path = assembled("frames.casm", ".proto walk, void()\n.global outer\n.func inner\n VAR %x, vec<i64,40>\n CALL @walk\n"
                    " RET\n.endfunc\n.func outer\n CALL @inner\n MOV v0, 3\n RET\n.endfunc\n")
    open("frames.c", "w").write("""
#include <stdio.h>
#include <unwind.h>
extern long outer(void);
static void *inside;
static int seen, frames;
static _Unwind_Reason_Code each(struct _Unwind_Context *c, void *user)
{
    frames++;
    (void)user;
    if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(c)) == inside) seen = 1;
    return _URC_NO_REASON;
}
void walk(void) { _Unwind_Backtrace(each, 0); }
int main(void)
{
    inside = (void *)main;
    long v = outer();
    printf("%d %d %ld\\n", seen, frames > 4, v);
    return 0;
}
""")
    penta("compile", path, "-o", "frames.o")
    done = run_program("cc", "frames.c", "frames.o", "-o", "frames", "-lpenta_coil",
                       "-L" + os.path.join(os.path.dirname(PENTA), "../lib"), "-lm")
    expect(done.returncode == 0, "frames link", done.stderr.decode())
    expect(run_program("./frames").stdout == b"1 1 3\n", "frames unwind", run_program("./frames"))


# ---- text for the assembler ----

def contents(path):
    """Sections, relocations and symbols of an object, without the order of symbols and what as adds."""
    sections = run_program("objdump", "-s", path).stdout.decode().split("Contents of section ")[1:]
    relocs = run_program("readelf", "-rW", path).stdout.decode()
    rows = sorted(re.sub(r"^(\w+) +\w+ (\w+) +", r"\1 \2 ", row) for row in relocs.splitlines() if re.match(r"^[0-9a-f]{16} ", row))
    symbols = run_program("readelf", "-sW", path).stdout.decode()
    names = sorted(" ".join(row.split()[1:6] + row.split()[7:]) for row in symbols.splitlines()
                   if re.match(r"^ +\d+:", row) and " SECTION " not in row)
    heads = {row.split(":")[0]: row for row in sections}
    return heads, rows, names


def test_assembler_makes_the_same_object():
    sources = {"plain": CALLED, "lines": LINES, "rare": """
.global main
.comm room, 32, 16
.weak maybe
.func main
    VAR %v, v128<i32>
    VAR %a, i8
    VAR %p, u64
    ADD sat i8 %a, i8 100
    SETE %v, 1, 7
    MOV %p, @main.here
    BR %p
.here:
    ADC: NOP
    OUTPORT 2, f64 1.5
    MOV v9, 3
    RET
.endfunc
.data
table: .addr @main, @main.here, @room + 8
"""}
    for name, text in sources.items():
        path = assembled((name + "_text") + ".casm", text, *(["-g"] if name == "lines" else []))
        penta("compile", path, "-o", "direct.o")
        done = penta("compile", path, "-o", "direct.s")
        expect(done.returncode == 0, name + " as text", done.stderr.decode())
        expect(penta("compile", path, "--emit", "asm", "-o", "-").stdout == open("direct.s", "rb").read(), name + " --emit asm")
        done = run_program("as", "direct.s", "-o", "through.o")
        if expect(done.returncode == 0 and not done.stderr, name + " assembles", done.stderr.decode()):
            for kind, a, b in zip(("sections", "relocations", "symbols"), contents("direct.o"), contents("through.o")):
                expect(a == b, f"{name}: same {kind}", (a, b))


# ---- what is refused ----

def test_refused():
    def refused(name, path, words, *more):
        done = penta("compile", path, "-o", name, *more)
        expect(done.returncode not in (0, 139, -11) and words in done.stderr.decode() and not os.path.exists(name), name,
               (done.returncode, done.stderr.decode()))

    good = assembled("good.casm", ".global main\n.func main\n RET\n.endfunc\n")
    data = open(good, "rb").read()
    open("empty.coil", "wb").write(b"")
    refused("empty.o", "empty.coil", "error")
    penta("link", good, "-o", "exec.coil")
    refused("exec.o", "exec.coil", "relocatable object")
    big = assembled("big.casm", ".endian big\n.global main\n.func main\n RET\n.endfunc\n")
    refused("big.o", big, "little-endian")
    for size in range(4, len(data), 7):
        open("cut.coil", "wb").write(data[:size])
        done = penta("compile", "cut.coil", "-o", "cut.o")
        expect(done.returncode > 0 and not os.path.exists("cut.o"), f"cut to {size}", done)
    wrong = assembled("wrong.casm",
                     ".global main\n.func main\n BR @nowhere\n RET\n.endfunc\n.data\nnowhere: .i8 1\n")
    refused("wrong.o", wrong, "COIL00")
    nine = assembled("nine.casm", ".proto f, i64(i64, i64, i64, i64, i64, i64, i64, i64, i64)\n.global f\n.func f\n RET\n.endfunc\n")
    refused("nine.o", nine, "at most 8 arguments")
    missing = assembled("missing.casm", ".global main\n.func main\n CALL @no_such_function\n RET\n.endfunc\n")
    refused("missing", missing, "linker failed")


def test_ports():
    """Standard input, numbers of every family, bytes; a port that is none ends the program."""
    echo = compiled("echo", ".global main\n.func main\n    VAR %c, i32\n.next:\n    INPORT %c, 1\n    OUTPORT 2, %c\n"
                            "    CMP %c, -1\n    BR NEQ, @.next\n    VAR %h, u8, 200\n    OUTPORT 2, %h\n    OUTPORT 2, f32 0.1\n"
                            "    OUTPORT 2, f64 0.1\n    OUTPORT 1, 33\n    MOV v0, 0\n    RET\n.endfunc\n")
    if echo:
        done = run_program("./echo", data=b"A\xff\0")
        expect((done.returncode, done.stdout) == (0, b"65\n255\n0\n-1\n200\n0.1\n0.1\n!"), "echo", done)
        told = penta("run", "echo.coil", data=b"A\xff\0").stdout
        expect(told.startswith(done.stdout), "echo, as the machine prints it", (told, done.stdout))
    for line in ("OUTPORT 3, 1", "VAR %c, i32\n    INPORT %c, 2"):
        bad = compiled("bad", f".global main\n.func main\n    {line}\n    RET\n.endfunc\n")
        if bad:
            done = run_program("./bad")
            expect(done.returncode and b"BAD_PORT" in done.stderr, "a port that is none", done)


sys.exit(in_one_folder(tests_of(globals())))

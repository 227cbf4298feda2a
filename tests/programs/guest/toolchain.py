#!/usr/bin/env python3
"""penta-cc and its companions as people call compilers: options, archives, launchers, autoconf, CMake and Meson.

    tests/programs/guest/toolchain.py PENTA

Skipped where penta-cc has no compiler; configure, CMake and Meson are left out where they are not installed.
"""
import os
import re
import shutil
import sys

import kit
from kit import CC, run
from support import PENTA, ROOT, equal, expect, run_program, write

BIN = os.path.dirname(CC)
MAIN = '#include <stdio.h>\nint one(int);\nint main(int c, char **v) { (void)v; printf("%d\\n", one(c + 20)); return 0; }\n'
FILES = {
    "main.c": MAIN,
    "one.c": '#include "one.h"\nint one(int x) { return two(x) + 1; }\n',
    "one.h": "int two(int);\n",
    "two.c": "int two(int x) { return x * 2; }\nint nobody(void) { extern int nothere(void); return nothere(); }\n",
    "three.S": "    .text\n    .globl three\n    .type three, @function\nthree:\n    li a0, 3\n    ret\n",
    "asm.c": "int three(void);\nint main(void) { return three(); }\n",
    "args.c": '#include <stdio.h>\nint main(int c, char **v)\n{\n    for (int i = 1; i < c; i++) printf("[%s]", v[i]);\n    return 40 + c;\n}\n',
    "lib.cpp": "#include <new>\ntemplate <typename T> struct box { T value; box(T v) : value(v) {} virtual ~box() {} virtual T get() { return value; } };\n"
               "struct made { int n; made() : n(40) {} };\nstatic made before;\nint main() { box<int> *b = new box<int>(2); int n = b->get(); delete b; return "
               "n + before.n; }\n",
}


def tools(work):
    """A folder with the files above, and a function that runs a tool there."""
    folder = os.path.join(work, "tools")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, text in FILES.items():
        write(os.path.join(folder, name), text)
    env = {**os.environ, "PENTA": PENTA, "PATH": os.pathsep.join((BIN, os.path.dirname(PENTA), os.environ["PATH"]))}

    def call(*command, code=0, **more):
        done = run_program(*command, cwd=folder, env={**env, **more}, text=True)
        if code is not None:
            equal(" ".join(command), (done.returncode, done.stderr if not code else ""), (code, ""))
        return done
    return folder, call


def options(work):
    folder, call = tools(work)
    at = lambda name: os.path.join(folder, name)
    call("penta-cc", "-O1", "main.c", "one.c", "two.c")
    equal("a.out", run(at("a.out")), (0, b"43\n", b""))
    for flags in ((), ("-flto", "-O2"), ("-m32", "-Os"), ("-g", "-O2", "-fno-pic")):
        call("penta-cc", *flags, "-c", "one.c", "two.c")
        call("penta-ar", "rcs", "libx.a", "one.o", "two.o")
        call("penta-ranlib", "libx.a")
        call("penta-cc", *flags, "main.c", "-L.", "-lx", "-lm", "-o", "m", "-Wl,-Map=m.map", "-Wl,--gc-sections,--as-needed", "-MMD",
             "-static", "-Wl,-O1")
        equal(f"archive {flags}", run(at("m")), (0, b"43\n", b""))
        expect("functions:" in open(at("m.map")).read(), f"the map {flags}")
        expect(open(at("main.d")).read().startswith("m: main.c"), f"dependencies {flags}")
        os.remove(at("libx.a"))
    call("penta-cc", "-MMD", "-c", "one.c", "-o", "sub.o")
    expect("sub.o: one.c one.h" in open(at("sub.d")).read(), "dependencies of an object")
    call("penta-cc", "asm.c", "three.S", "-o", "asm")
    equal("assembly", run(at("asm"))[0], 3)
    call("penta-cc", "-r", "asm.c", "-o", "x", code=0)
    write(at("words"), "-O1 asm.c\nthree.S -o 'an answer'")
    call("penta-cc", "@words")
    equal("a file of options", run(at("an answer"))[0], 3)
    call("penta-c++", "-O2", "lib.cpp", "-o", "cpp")
    equal("c++", run(at("cpp"))[0], 42)
    call("penta-cc", "-xc", "-", "-fsyntax-only")
    call("penta-cc", "-c", "main.c")
    expect(" U one" in call("penta-nm", "main.o").stdout, "nm")
    expect("elf64" in call("penta-objdump", "-h", "main.o").stdout, "objdump")
    call("penta-strip", "main.o")
    expect(call("riscv64-penta-nm", "one.o").stdout, "the names that configure looks for")
    call("riscv64-penta-cc", "asm.c", "three.o", code=1)
    for flag, unrolled in (("-O2", True), ("-O3", True), ("-O1", False), ("-Os", False)):
        done = run_program(CC, "-v", flag, "-c", os.path.join(folder, "two.c"), "-o", at("two.o"), text=True)
        equal(f"unrolling at {flag}", "-unroll-runtime" in done.stderr, unrolled)
    call("penta-cc", "-O2", "-mllvm", "-unroll-runtime=false", "-c", "two.c")
    for flag, text in (("-shared", "no shared libraries"), ("-lnone", "-lnone")):
        expect(text in call("penta-cc", flag, "asm.c", "three.S", code=1).stderr, flag)
    expect("two is not defined" in call("penta-cc", "main.c", "one.c", code=1).stderr, "undefined functions are named")
    expect("clang version" in call("penta-cc", "--version").stdout, "version")
    expect("LLD" in call("penta-cc", "-Wl,--version").stdout, "version of the linker")


def debug(work):
    """Functions of joined objects keep their names; lines of those that are not used are of no other code."""
    folder, call = tools(work)
    write(os.path.join(folder, "commands"), "break two.c:1\ncontinue\nbacktrace\nquit\n")
    for flags in (("-g",), ("-g", "-m32"), ("-gdwarf-4", "-O1", "-fno-inline")):
        call("penta-cc", *flags, "main.c", "one.c", "two.c", "-o", "named.polkavm")
        frames = call("penta", "debug", "named.polkavm", "-x", "commands").stdout
        named = re.findall(r"^#\d+ +pc \d+ in (\w+)\S* *(?:.*/(\w+\.c):\d+)?$", frames, re.M)
        equal(f"frames of {flags}", named, [("two", "two.c"), ("one", "one.c"), ("main", "main.c"), ("main", "")])


def sizes(work):
    """Only what is used is linked, and what is used is small."""
    folder, call = tools(work)
    write(os.path.join(folder, "empty.c"), "int main(void) { return 0; }\n")
    write(os.path.join(folder, "hello.c"), '#include <stdio.h>\nint main(void) { printf("hello, %.3f\\n", 1 / 3.0); return 0; }\n')
    for bits in ("-m64", "-m32"):
        for name, most in (("empty", 2000), ("hello", 14000)):
            call("penta-cc", "-O2", bits, name + ".c", "-o", name)
            size = os.path.getsize(os.path.join(folder, name))
            expect(size < most, f"{name} {bits} has less than {most} bytes", str(size))


def launcher(work):
    folder, call = tools(work)
    call("penta-cc", "-g", "args.c", "-o", "args", PENTA_CC_LAUNCHER="1")
    equal("a launcher", call("./args", "one", "-x", "--fuel", code=44).stdout, "[one][-x][--fuel]")
    size = os.path.getsize(os.path.join(folder, "args.polkavm"))
    call("penta-strip", "args")
    expect(os.path.getsize(os.path.join(folder, "args.polkavm")) < size, "a stripped program is smaller")
    equal("a stripped program", call("./args", "one", code=42).stdout, "[one]")


CONFIGURE = """AC_INIT([sample], [1.0])
AC_CONFIG_SRCDIR([main.c])
AC_PROG_CC
AC_PROG_RANLIB
AC_CHECK_TOOL([AR], [ar])
AC_CHECK_HEADERS([stdio.h stdlib.h no_such_header.h])
AC_CHECK_FUNCS([memcpy no_such_function])
AC_CHECK_SIZEOF([long])
AC_CHECK_LIB([m], [sqrt])
AC_C_BIGENDIAN
AC_CONFIG_HEADERS([config.h])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
MAKEFILE = """CC = @CC@
AR = @AR@
RANLIB = @RANLIB@
LIBS = @LIBS@
program: main.o libx.a
\t$(CC) @CFLAGS@ main.o -L. -lx $(LIBS) -o program
libx.a: one.o two.o
\t$(AR) cr $@ one.o two.o
\t$(RANLIB) $@
check: program
\ttest "`./program`" = 43
"""


def configure(work):
    if not shutil.which("autoconf") or not shutil.which("autoheader"):
        return
    folder, call = tools(work)
    write(os.path.join(folder, "configure.ac"), CONFIGURE)
    write(os.path.join(folder, "Makefile.in"), MAKEFILE)
    for command in ("autoheader", "autoconf"):
        run_program(command, cwd=folder, needed=True)
    call("./configure", "--host=riscv64-penta", PENTA_CC_LAUNCHER="1")
    config = open(os.path.join(folder, "config.h")).read()
    for line in ("#define HAVE_STDLIB_H 1", "#define HAVE_MEMCPY 1", "#define SIZEOF_LONG 8", "/* #undef HAVE_NO_SUCH_FUNCTION */",
                 "/* #undef HAVE_NO_SUCH_HEADER_H */", "#define HAVE_LIBM 1"):
        expect(line in config, line, config)
    expect("CC = riscv64-penta-gcc" in open(os.path.join(folder, "Makefile")).read(), "configure finds the compiler by its name")
    call("make", "check", PENTA_CC_LAUNCHER="1")


CMAKE = """cmake_minimum_required(VERSION 3.20)
project(sample C CXX ASM)
enable_testing()
add_library(x STATIC one.c two.c)
add_executable(program main.c)
target_link_libraries(program x m)
add_executable(cpp lib.cpp)
add_executable(assembly asm.c three.S)
add_test(NAME program COMMAND program)
set_tests_properties(program PROPERTIES PASS_REGULAR_EXPRESSION "^43")
include(CheckFunctionExists)
check_function_exists(memcpy HAVE_MEMCPY)
check_function_exists(no_such_function HAVE_NOTHING)
if(NOT HAVE_MEMCPY OR HAVE_NOTHING)
  message(FATAL_ERROR "functions are not found")
endif()
install(TARGETS program)
"""
MESON = """project('sample', 'c', 'cpp')
x = static_library('x', 'one.c', 'two.c')
p = executable('program', 'main.c', link_with: x)
executable('cpp', 'lib.cpp')
assert(meson.get_compiler('c').has_function('memcpy'))
assert(not meson.get_compiler('c').has_function('no_such_function'))
test('program', p)
"""


def cmake(work):
    if not shutil.which("cmake") or not shutil.which("ninja"):
        return
    folder, call = tools(work)
    write(os.path.join(folder, "CMakeLists.txt"), CMAKE)
    call("cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/guest/cmake/penta.cmake")
    call("cmake", "--build", "build")
    call("ctest", "--test-dir", "build")
    equal("a program of CMake", run(os.path.join(folder, "build", "cpp.polkavm"))[0], 42)
    call("cmake", "--install", "build", "--prefix", os.path.join(folder, "installed"), "--strip")
    equal("an installed program", run(os.path.join(folder, "installed", "bin", "program.polkavm")), (0, b"43\n", b""))


LIBCXX = """#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <variant>
#include <vector>
template class std::basic_string<char>;
int main()
{
    std::vector<int> v;
    for (int i = 0; i < 1000; i++) v.push_back(i * 7 % 13);
    std::map<int, int> m;
    for (int x : v) m[x]++;
    std::array<int, 5> a{5, 3, 9, 1, 7};
    std::ranges::sort(a, [](int x, int y) { return x < y; });
    auto p = std::make_unique<int>(5);
    std::function<int(int)> f = [&](int x) { return x + *p; };
    std::variant<int, double> w = 2.5;
    std::string s = "a text that is longer ";
    s += "than a short one";
    printf("%zu %d %d %.1f %s\\n", m.size(), a[4], f(2), std::get<double>(w), s.c_str());
    for (int x : v | std::views::filter([](int n) { return n > 11; }) | std::views::take(2)) printf("%d\\n", x);
    return v.at(7) == 10 ? 0 : 1; /* calls what would throw, if it did */
}
"""


def libcxx(work):
    """The headers of LLVM's C++ library, where they are; LIBCXX in the environment names another folder."""
    headers = os.environ.get("LIBCXX", "/usr/lib/llvm-19/include/c++/v1")
    if not os.path.exists(os.path.join(headers, "vector")):
        return
    folder, call = tools(work)
    write(os.path.join(folder, "libcxx.cpp"), LIBCXX)
    for bits in ("-m64", "-m32"):
        call("penta-c++", bits, "-std=c++20", "-O2", "-I", headers, "-D_LIBCPP_HAS_NO_THREADS", "-D_LIBCPP_HAS_NO_LOCALIZATION", "libcxx.cpp", "-o", "libcxx")
        equal(f"a program of libc++ {bits}", run(os.path.join(folder, "libcxx")), (0, b"13 9 7 2.5 a text that is longer than a short one\n12\n12\n", b""))


def meson(work):
    if not shutil.which("meson") or not shutil.which("ninja"):
        return
    folder, call = tools(work)
    write(os.path.join(folder, "meson.build"), MESON)
    for command in (("setup", "--cross-file", f"{ROOT}/guest/meson/penta.ini", "build"), ("compile", "-C", "build"), ("test", "-C", "build")):
        done = call("meson", *command, code=None)
        equal(f"meson {command[0]}", done.returncode, 0)
    equal("a program of Meson", run(os.path.join(folder, "build", "cpp"))[0], 42)


sys.exit(kit.main(options, debug, sizes, launcher, configure, cmake, libcxx, meson))

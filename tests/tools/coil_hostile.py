#!/usr/bin/env python3
"""Programs that are hard to compile, one family each, as COIL text of about so many bytes.

    tests/tools/coil_hostile.py FAMILY BYTES
"""
import sys


def main_of(lines):
    used = [f" ADD v0, %v{i}" for i in range(sum(" VAR " in line for line in lines))]
    return ".global main\n.func main\n" + "\n".join(lines + used) + "\n RET\n.endfunc\n"


def variables(n, kind="i64"):
    return [f" VAR %v{i}, {kind}, 0\n MOV %v{i}, v0\n INC v0" for i in range(n)]


def nested_loops(size):
    n = max(1, size // 85)
    body = variables(min(n, 4000))
    n = min(n, 4000)
    body += [f" MOV %v{i}, 0\n.l{i}:" for i in range(n)]
    return body + [f" INC %v{i}\n CMP %v{i}, 2\n BR LT, @.l{i}" for i in reversed(range(n))]


def nested_few_variables(size):
    n = max(1, size // 45)
    return variables(8) + [f".l{i}:" for i in range(n)] + [
        f" INC %v{i % 8}\n CMP %v{i % 8}, 2\n BR LT, @.l{i}" for i in reversed(range(n))]


def loops_in_a_row(size):
    n = max(1, size // 55)
    return variables(50) + [f".l{i}:\n ADD %v{i % 50}, %v{i % 7}\n CMP %v{i % 50}, 9\n BR LT, @.l{i}" for i in range(n)]


def one_block(size):
    return variables(300) + [f" ADD %v{i % 300}, %v{i * 7 % 300}, %v{i * 13 % 300}" for i in range(size // 23)]


def chain_of_copies(size):
    return variables(40) + [f" MOV %v{(i + 1) % 40}, %v{i % 40}" for i in range(size // 16)]


def joins(size):
    n = max(1, (size - 6000) // 60)
    return variables(300) + [f" CMP %v{i % 300}, 3\n BR LT, @.j{i}\n INC %v{i * 7 % 300}\n.j{i}:" for i in range(n)]


def chain_in_loop(size):
    """Copies around a loop, whose phis become known one after the other."""
    n = min(3000, max(2, size // 40))
    return variables(n) + [".l:"] + [f" MOV %v{i}, %v{i + 1}" for i in range(n - 1)] + [
        " INC %v0\n CMP %v0, 9\n BR LT, @.l"]


def one_join(size):
    n = max(1, (size - 300) // 45)
    return variables(20) + [f" INC %v{i % 20}\n CMP %v{i % 20}, 3\n BR LT, @.end" for i in range(n)] + [".end:"]


def variables_in_exits(size):
    """Every access of memory may trap, and keeps all variables."""
    n, rest = 700, max(1, (size - 50000) // 24)
    return variables(n, "u64") + [f" MOV %v{i % n}, u64 [%v{i * 7 % n}]" for i in range(rest)]


def thousands_of_variables(size):
    n = min(4000, max(1, size // 40))
    return variables(n) + [".l:"] + [f" ADD %v{i}, %v{(i + 1) % n}" for i in range(n)] + [
        " CMP %v0, 5\n BR LT, @.l"] + [f" ADD %v{i % n}, %v{i * 3 % n}" for i in range(max(0, (size - 40 * n) // 22))]


def backward_blocks(size):
    """Each block jumps to the one before it: what is live goes one block at a time."""
    n = max(2, size // 45)
    lines = variables(5) + [f" CMP %v0, 1\n JMP @.b{n - 1}", ".b0:\n BR LT, @.end\n JMP @.end"]
    return lines + [f".b{i}:\n MOV %v{i % 5}, {i % 9}\n JMP @.b{i - 1}" for i in range(1, n)] + [".end:"]


def two_entries(size):
    """Cycles with two entries, each in the one before."""
    n = max(1, size // 70)
    return variables(9) + [f" CMP %v{i % 9}, 3\n BR LT, @.b{i}\n.a{i}:\n INC %v{i % 9}\n.b{i}:" for i in range(n)] + [
        f" CMP %v{i % 9}, 2\n BR LT, @.a{i}" for i in reversed(range(n))]


def switches(size):
    n = max(1, size // 40)
    return variables(9, "u64") + [f".s{i}:\n INC %v{i % 9}\n SWITCH %v{i % 9}, @table" for i in range(n)]


def calls(size):
    return [" CALL @small"] * (size // 14)


FAMILIES = {f.__name__: f for f in (
    nested_loops, nested_few_variables, loops_in_a_row, one_block, chain_of_copies, joins, chain_in_loop, one_join,
    variables_in_exits, thousands_of_variables, backward_blocks, two_entries, switches, calls)}


def text(family, size):
    lines = FAMILIES[family](size)
    end = ""
    if family == "switches":
        n = min(len(lines) - 9, 4000)
        end = ".rodata\ntable:\n .u64 %d\n .addr @main.s0\n" % n + "".join(
            f" .addr @main.s{i}\n" for i in range(n))
    if family == "calls":
        end = ".func small\n INC v0\n RET\n.endfunc\n"
    return main_of(lines) + end


if __name__ == "__main__":
    sys.stdout.write(text(sys.argv[1], int(sys.argv[2])))

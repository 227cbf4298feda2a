#!/usr/bin/env python3
"""tvmr through the command line: what case files cannot say.

    tests/programs/tvmr.py PENTA
"""
import os
import subprocess
import sys

from support import PENTA, assembled, call, check, main, write


def penta(*args, **more):
    return call(*args, text=True, **more)


COPY = """.registers
H0: i32[4]
.program
load_input H0
store_output H0
halt
"""


KEYS = """.registers
C0: ternary[2, 2] key="%s"
C1: ternary[3] key="%s"
H0: i32[2]
.program
load_target H0
halt
"""


def test_weights_of_another_program():
    """Nothing that fits is an error, a part that fits a warning with what either side has alone; a run without a target is no mistake."""
    file = assembled("keys.tasm", KEYS % ("a", "b"))
    check(penta("run", file, "--save-weights", "w.tvmw").returncode == 0, "save")
    done = penta("run", file, "--weights", "w.tvmw")
    check(done.returncode == 0 and not done.stderr, done.stderr)
    done = penta("run", assembled("other.tasm", KEYS % ("c", "d")), "--weights", "w.tvmw")
    check(done.returncode and "no weights of 'w.tvmw' are for this program" in done.stderr
          and "keys of the file: a, b; of the program: c, d" in done.stderr, done.stderr)
    part = assembled("part.tasm", KEYS % ("c", "b"))
    done = penta("run", part, "--weights", "w.tvmw")
    check(done.returncode == 0 and "TVMR0320" in done.stderr and "into 1 of 2 registers" in done.stderr
          and "only the program has c; only the file has a" in done.stderr, done.stderr)
    check(penta("run", part, "--save-weights", "part.tvmw").returncode == 0, "save the part")
    done = penta("run", part, "--weights", "w.tvmw", "--weights", "part.tvmw")
    check("only the file has a" in done.stderr and "only the program" not in done.stderr, done.stderr)
    done = penta("run", part, "--weights", "w.tvmw", "--weights", "w.tvmw")
    check("only the program has c; only the file has a\n" in done.stderr, done.stderr)
    done = penta("run", assembled("sizes.tasm", KEYS.replace("2, 2", "5").replace("[3]", "[4]") % ("a", "b")), "--weights", "w.tvmw")
    check(done.returncode and "C0 keeps its weights: the file has 4" in done.stderr, done.stderr)
    done = penta("convert", "w.tvmw", "--to", "csv", "--entry", "zz", "-o", "x.csv")
    check(done.returncode and "there are a, b" in done.stderr, done.stderr)
    done = penta("run", file, "--strict", "--target", "1,2,3")
    check(done.returncode == 20 and "declared with 2 elements and gets 3" in done.stdout, done.stdout)


def test_exit_value_is_first_output():
    file = assembled("copy.tasm", COPY)
    for values, code in (("7,1,2,3", 7), ("-1,1,2,3", 255), ("256,0,0,1", 0)):
        done = penta("run", file, "--input", values, "--exit-value")
        check(done.returncode == code, f"{values}: exit {done.returncode}\n{done.stderr}")
    check(penta("run", file, "--input", "7,1,2,3").returncode == 0, "only when asked for")
    silent = assembled("silent.tasm", ".program\nhalt\n")
    check(penta("run", silent, "--exit-value").returncode == 0, "no output is 0")
    bad = assembled("bad.tasm", ".program\nrelu H1, H0\nhalt\n")
    check(penta("run", bad, "--exit-value").returncode == 20, "a trap stays a trap")


def test_exit_value_of_format_without_one():
    write("one.kasm", "HALT\n")
    check(penta("asm", "one.kasm", "-o", "one.kblob").returncode == 0, "kblob")
    done = penta("run", "one.kblob", "--exit-value")
    check(done.returncode == 2 and "format kblob have no value" in done.stderr, done)


def costs(*args):
    """Seconds of processor time, and MB of memory."""
    with open("out", "wb") as out:
        child = subprocess.Popen([PENTA, *args], stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    check(child.returncode == 0, f"{args}: exit {child.returncode}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def test_trace_and_run_cost_follows_what_changed():
    file = assembled("big.tasm", ".registers\nH0: i32[20000, 1000]\nC0: ternary[20000, 1000]\n"
                            ".program\nset H1, 1\nset H1, 2\nhalt\n")
    for command in ("trace", "run"):      # the registers take 120 MB
        seconds, megabytes = costs(command, file)
        check(seconds < 2 and megabytes < 400, f"{command}: {seconds} s, {megabytes} MB")
    check(" .. 19999936 more" in open("out").read(), "64 values of each are shown")
    write("inputs.json", str([[i] for i in range(5000)]))
    file = assembled("one.tasm", ".registers\nH0: i32[1]\n.program\nload_input H0\nstore_output H0\n")
    seconds, _ = costs("trace", file, "--inputs", "inputs.json")
    check(seconds < 5, f"10000 steps of 5000 runs: {seconds} s")
    last = open("out").read().splitlines()[-2]
    check(last.endswith("; output/value[0]=4999 outputs/run[4999]/value[0]=4999  ; halt"), last)


def test_trace_sees_every_change_in_place():
    """What changes elements where they are is a change for the trace, each time."""
    ops = ["ternary.accumulate_pressure H1, H0", "ternary.accumulate_pressure H1, H0", "zero_reg H0"]
    file = assembled("places.tasm", ".requires\n    ternary\n.registers\n    H0: i32[2]\n.program\n    load_input H0\n" +
                     "".join(f"    {op}\n" for op in ops) + "    halt\n")
    lines = penta("trace", file, "--input", "3,-4").stdout.splitlines()[1:4]
    for line, changes in zip(lines, ("H1/data/value[0]=3 registers/H1/data/value[1]=-4", "H1/data/value[0]=6 registers/H1/data/value[1]=-8",
                                     "H0/data/value[0]=0 registers/H0/data/value[1]=0")):
        check(line.endswith(changes), line)


def test_trace_shows_changed_elements_and_cuts_long_lists():
    file = assembled("changes.tasm", ".registers\nH0: i32[3]\nC0: ternary[10, 10]\n.program\n"
                                "load_input H0\nadd_babble H0, 0\nfree_tensor H0\n"
                                "alloc_tensor H0, 3\nzero H0\nalloc_tensor H1, 100\n"
                                "init_random C0, 3\nrelu H1, H1\nhalt\n")
    lines = [line.partition("; ")[2] for line in
             penta("trace", file, "--input", "0,2,0").stdout.splitlines()]
    check(lines[0] == "registers/H0/data/value[1]=2", lines[0])
    check(lines[1] == "babble_scale=0 babble_phase=1" and lines[2] == "", lines[1:3])
    check(lines[3] == "registers/H0/shape/dim[0]=3 registers/H0/data/value[0]=0 "
                      "registers/H0/data/value[1]=0 registers/H0/data/value[2]=0", lines[3])
    check(lines[4] == "", "the values are the same: " + lines[4])
    check(lines[5] == "registers/H1/shape/dim[0]=100 registers/H1/data=0 0 0 0 0 0 0 0 .. 92 more",
          lines[5])
    check(lines[6] == "registers/C0/weights=142 -56 0 0 -85 -120 166 0 .. 92 more", lines[6])


WEIGHTS = """{"entries": [{"key": "a", "shape": [2, 2], "weights": [5, -6, 0, [0, 9]], "temperatures": [0, 1, 2, 3]},
             {"key": "b", "shape": [3], "weights": [255, -255, 0]}, {"key": "e", "shape": [2, 0, 2], "weights": []}]}"""


def test_weight_files_convert():
    """Weights to the forms of other tools and back."""
    write("w.json", WEIGHTS)
    exact = penta("convert", "w.json", "--read-as", "json", "--to", "tvmw", "-o", "w.tvmw")
    check(exact.returncode == 0, exact.stderr)
    check("tvmr (100 %: starts with TVMW: weights)" in penta("detect", "w.tvmw").stdout, "detect")
    info = penta("info", "w.tvmw").stdout
    check("ternary[2,2], 4 weights, 2 of them 0, with temperatures" in info and "XXH64, good" in info, info)
    check("temperatures = 00010203" in penta("inspect", "w.tvmw").stdout, "inspect")
    check(penta("validate", "w.tvmw").returncode == 0 and penta("roundtrip", "w.tvmw").returncode == 0, "sound")
    check(penta("convert", "w.tvmw", "--to", "json", "-o", "again.json").returncode == 0, "to json")
    check(penta("convert", "again.json", "--read-as", "json", "-o", "again.tvmw").returncode == 0, "from json")
    check(open("again.tvmw", "rb").read() == open("w.tvmw", "rb").read(), "JSON holds everything")
    for form in ("npy", "csv"):
        done = penta("convert", "w.tvmw", "--to", form, "--entry", "b", "-o", "b." + form)
        check(done.returncode == 0 and not done.stderr, done.stderr)
        done = penta("convert", "b." + form, "--read-as", form, "--entry", "b", "--merge", "w.tvmw", "--to", "tvmw", "-o", form + ".tvmw")
        check(done.returncode == 0, done.stderr)
        check(penta("convert", form + ".tvmw", "--to", form, "--entry", "b", "-o", "c." + form).returncode == 0, form)
        check(open("b." + form, "rb").read() == open("c." + form, "rb").read(), form)
        check("entries" in penta("info", "--read-as", form, "--entry", "x", "b." + form).stdout, "info of numbers")
    check(open("b.csv").read() == "255\n-255\n0\n", "one number in a line")
    check(open("b.npy", "rb").read()[:8] == b"\x93NUMPY\x01\x00" and len(open("b.npy", "rb").read()) == 64 + 64 + 6, "NPY")
    check(open("npy.tvmw", "rb").read() == open("csv.tvmw", "rb").read(), "the same weights")
    lossy = penta("convert", "w.tvmw", "--to", "npy", "--entry", "a", "-o", "a.npy").stderr
    check("warning[TVMR0109]: the temperatures are left out" in lossy and "weight 3 is more than its value 0" in lossy, lossy)
    lossy = penta("convert", "w.tvmw", "--to", "csv", "--entry", "e", "-o", "e.csv").stderr
    check("3 dimensions become two" in lossy, lossy)


def test_weight_files_refused():
    write("w.json", WEIGHTS)
    check(penta("convert", "w.json", "--read-as", "json", "-o", "w.tvmw").returncode == 0, "sound")
    write("big.csv", "1,256\n")
    image = assembled("copy.tasm", COPY)
    for args, words in ((["w.tvmw", "--to", "npy"], "'--entry' chooses one of 3"), (["w.tvmw", "--to", "csv", "--entry", "z"], "no entry 'z'"),
                        (["w.tvmw", "--to", "tvmr"], "not 'tvmr'"), ([image, "--to", "npy"], "is for weight files"),
                        (["big.csv", "--read-as", "csv"], "gives these weights a key"), (["big.csv", "--read-as", "npy", "--entry", "k"], "no NPY file"),
                        (["big.csv", "--read-as", "csv", "--entry", "k"], "weights are -255 to 255"),
                        (["w.tvmw", "--merge", "big.csv"], "not a correct weight file")):
        done = penta("convert", *args, "-o", "out")
        check(done.returncode in (1, 2, 5) and words in done.stderr, (args, done.stderr))
    for text, words in (("{}", "'entries' is a list"), ('{"entries": [{"key": 1}]}', "'key' is a text"),
                        ('{"entries": [{"key": "k", "shape": [70000], "weights": []}]}', "dimensions are 0 to 65535"),
                        ('{"entries": [{"key": "k", "shape": [1], "weights": []}]}', "other elements than 'shape' says"),
                        ('{"entries": [{"key": "k", "shape": [1], "weights": [300]}]}', "a weight is -255 to 255"),
                        ('{"entries": [{"key": "k", "shape": [1], "weights": [1], "temperatures": []}]}', "one for each weight"),
                        ('{"entries": [{"key": "k", "shape": [1], "weights": [1], "temperatures": [-1]}]}', "temperatures are 0 to 255")):
        write("bad.json", text)
        done = penta("convert", "bad.json", "--read-as", "json", "-o", "out")
        check(done.returncode in (1, 2, 5) and words in done.stderr, (text, done.stderr))
    done = penta("run", "w.tvmw")
    check(done.returncode == 2 and "no program to run" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(main(globals()))

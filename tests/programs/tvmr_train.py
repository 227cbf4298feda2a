#!/usr/bin/env python3
"""Training of ternary networks: the digits of examples/tvmr, tables of all forms, and what is refused.

    tests/programs/tvmr_train.py PENTA DRAW_DIGITS DIGITS
"""
import json
import os
import random
import struct
import sys

from support import PENTA, ROOT, Skipped, call, check, exits, main, run_program, write

DRAW, DIGITS = (os.path.abspath(path) for path in sys.argv[2:4])


def table(path):
    """The rows of an IDX file of bytes."""
    data = open(path, "rb").read()
    dims = struct.unpack(f">{data[3]}I", data[4:4 + 4 * data[3]])
    data, width = data[4 + 4 * len(dims):], 1
    for dim in dims[1:]:
        width *= dim
    return [data[i * width:(i + 1) * width] for i in range(dims[0])]


def nearest_mean(images, labels, test_images, test_labels):
    """The share that a classifier gets right which compares with the mean of each class."""
    sums, counts = [[0] * 256 for _ in range(10)], [0] * 10
    for image, label in zip(images, labels):
        counts[label[0]] += 1
        sums[label[0]] = [a + b for a, b in zip(sums[label[0]], image)]
    means = [[a / n for a in row] for row, n in zip(sums, counts)]
    right = 0
    for image, label in zip(test_images, test_labels):
        distances = [sum((a - b) ** 2 for a, b in zip(image, mean)) for mean in means]
        right += distances.index(min(distances)) == label[0]
    return right / len(test_images)


def draw(seed, count, images, labels):
    done = run_program(DRAW, str(seed), str(count), images, labels)
    check(done.returncode == 0, "draw_digits")


def test_digits():
    """Drawn digits of one seed, judged by another one: a network learns what means of classes cannot tell."""
    draw(1, 4000, "train.idx", "labels.idx")
    draw(2, 500, "test.idx", "test_labels.idx")
    mean = nearest_mean(table("train.idx")[:1500], table("labels.idx")[:1500], table("test.idx"), table("test_labels.idx"))
    check(.5 < mean < .9, f"nearest mean {mean}")
    exits(0, "asm", os.path.join(ROOT, "examples/tvmr/digits.tasm"), "--metadata", "-o", "digits.tvmr")
    files = ["--data", "train.idx", "--targets", "labels.idx", "--test-data", "test.idx", "--test-targets", "test_labels.idx"]
    how = ["--batch", "64", "--init", "random", "--seed", "1", "--epochs", "8", "--goal", "96", "--save", "digits.tvmw"]
    done = exits(0, "train", "digits.tvmr", *files, *how, "--json")
    said = json.loads(done.stdout)
    check(said["accuracy"] >= .95 and said["right"] == said["accuracy"] * said["rows"], said)
    check(len(said["epochs"]) == said["epochs_done"] and said["epochs"][said["best"] - 1]["best"], said["epochs"])
    check(sum(map(sum, said["confusion"])) == 500, "the confusion matrix")
    check(sum(said["confusion"][i][i] for i in range(10)) == said["right"], "its diagonal")
    saved = open("digits.tvmw", "rb").read()
    text = exits(0, "train", "digits.tvmr", *files, *how)
    check(open("digits.tvmw", "rb").read() == saved, "the same seed gives the same weights")
    check(b"  best" in text.stderr and b"ended by " in text.stdout and b"taken for" in text.stdout, text.stdout)
    check(b"warning" not in done.stderr, done.stderr)
    open("four.csv", "w").write("1,2,3,4\n" * 4)
    open("classes.csv", "w").write("0\n1\n0\n1\n")
    few = call("train", "digits.tvmr", "--data", "four.csv", "--targets", "classes.csv", "--batch", "64", "--classes", "10")
    check(few.returncode == 1 and b"C1 [64, 256]: 16384 correlations" in few.stderr
          and b"H0 is declared with 256 elements and gets 4" in few.stderr, few.stderr)
    exits(0, "asm", os.path.join(ROOT, "examples/tvmr/train.tasm"), "-o", "shapes.tvmr")
    few = exits(0, "train", "shapes.tvmr", "--data", "four.csv", "--targets", "classes.csv", "--classes", "4", "--epochs", "1")
    check(b"H0 is declared with 64 elements and gets 4" in few.stderr, few.stderr)
    judged = exits(0, "train", "digits.tvmr", *files, "--epochs", "0", "--weights", "digits.tvmw", "--json")
    check(json.loads(judged.stdout)["right"] == said["right"], "the saved weights are the best ones")
    done = run_program(DIGITS, "digits.tvmr", "digits.tvmw", "test.idx", "test_labels.idx", text=True)
    check(done.returncode == 0 and f"{said['right']} of 500 right" in done.stdout, done)


def test_digits_of_scikit_learn():
    try:
        from sklearn.datasets import load_digits
        import numpy
    except ImportError:
        raise Skipped("scikit-learn is not installed")
    digits = load_digits()
    order = numpy.random.RandomState(0).permutation(len(digits.target))
    for name, part in (("train", order[:1300]), ("test", order[1300:])):
        numpy.save(name + "_data.npy", digits.data[part])
        numpy.save(name + "_targets.npy", digits.target[part])
    text = open(os.path.join(ROOT, "examples/tvmr/digits.tasm")).read().replace("256", "64").replace("shift H5, H5, 11", "shift H5, H5, 9")
    write("small.tasm", text)
    exits(0, "asm", "small.tasm", "--metadata", "-o", "small.tvmr")
    done = exits(0, "train", "small.tvmr", "--data", "train_data.npy", "--targets", "train_targets.npy", "--test-data", "test_data.npy",
                 "--test-targets", "test_targets.npy", "--scale", "15.9", "--batch", "32", "--init", "random", "--epochs", "20", "--json")
    said = json.loads(done.stdout)
    print(f"digits of scikit-learn: {100 * said['accuracy']:.1f} % right after {said['best']} epochs")
    check(said["accuracy"] > .9, said["accuracy"])


# One neuron for each of two classes, pushed in the direction of its error.
TWO = """.meta
    name "two"
.registers
C0: ternary[1, 2] key="a"
C1: ternary[1, 2] key="b"
H0: i32[2]
H1: i32[2]
H9: i32[1]
.program
load_input H0
ternary_matmul H2, C0, H0
ternary_matmul H3, C1, H0
concat H4, H2, H3
store_output H4
load_target H1
if_zero H1, done
slice H5, H1, 0, 1
slice H6, H1, 1, 1
mastery_update C0, H0, H5
mastery_commit C0, threshold=2
mastery_update C1, H0, H6
mastery_commit C1, threshold=2
done:
halt
"""
ROWS = [(9, 1), (1, 9), (8, 2), (2, 7)]
CLASSES = [0, 1, 0, 1]


def two():
    write("two.tasm", TWO)
    exits(0, "asm", "two.tasm", "--metadata", "-o", "two.tvmr")


def npy(numbers, shape, kind, order="C", version=1):
    header = f"{{'descr': '{kind}', 'fortran_order': {order == 'F'}, 'shape': {shape}, }}\n".encode()
    code = kind[0].replace("|", "<") + {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
                                        "f4": "f", "f8": "d", "b1": "B"}[kind[1:]] * len(numbers)
    return (b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header +
            struct.pack(code.replace("<", "<", 1), *numbers))


def tables():
    flat = [v for row in ROWS for v in row]
    fortran = [row[0] for row in ROWS] + [row[1] for row in ROWS]
    yield "csv", b"first,second\n# a comment\n\n" + b"\n".join(b"%d,%d" % row for row in ROWS)
    yield "semicolons", b"".join(b' "%d"; %d.0\r\n' % row for row in ROWS)
    for kind in ("<i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">u8", "<f4", "<f8", ">f8"):
        yield kind, npy(flat, "(4, 2)", kind)
    yield "fortran", npy(fortran, "(4, 2)", "<i2", "F")
    yield "version 2", npy(flat, "(4, 2)", "<i2", version=2)
    yield "three dimensions", npy(flat, "(4, 1, 2)", "<i2")
    for code, kind in ((8, "B"), (9, "b"), (11, "h"), (12, "i"), (13, "f"), (14, "d")):
        yield f"idx {code}", bytes([0, 0, code, 2]) + struct.pack(">II", 4, 2) + struct.pack(">8" + kind, *flat)


def test_forms_of_tables():
    """The same numbers in every form give the same weights."""
    two()
    open("targets.csv", "w").write("\n".join(map(str, CLASSES)) + "\n")
    expected = None
    for name, data in tables():
        open("data", "wb").write(data)
        said = json.loads(exits(0, "train", "two.tvmr", "--data", "data", "--targets", "targets.csv", "--off", "-255",
                                "--save", "w.tvmw", "--json").stdout)
        check(said["accuracy"] == 1, (name, said))
        weights = open("w.tvmw", "rb").read()
        check(expected in (None, weights), name)
        expected = weights


def test_tables_refused():
    two()
    open("targets.csv", "w").write("0\n1\n0\n1\n")
    good = npy([1] * 8, "(4, 2)", "<i2")
    for data, words in ((b"1,2\n3\n", "1 numbers in a line, 2 in those before"), (b"1,2\n3,x\n", "'x' is no number"),
                        (b"", "no numbers"), (b"1,99999999999\n", "does not fit 32 bits"), (b"1,nan\n", "does not fit"),
                        (good[:-1], "ends before its numbers"), (good + b"1", "1 bytes after the numbers"),
                        (good[:7], "version"), (good.replace(b"<i2", b"<c8"), "no whole or floating numbers"),
                        (good.replace(b"'shape'", b"'shave'"), "unknown member"), (good.replace(b"(4,", b"[4,"), "no tuple"),
                        (good.replace(b"{", b"["), "no dictionary"), (b"\0\0\x08\x03\0\0", "inside its dimensions"),
                        (b"\0\0\x08\0", "0 dimensions"), (b"\0\0\x0a\x01\0\0\0\0", "no type of IDX"),
                        (b"\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", "ends before"),
                        (b"1,2\n", "1 rows of data, 4 of targets")):
        open("data", "wb").write(data)
        done = call("train", "two.tvmr", "--data", "data", "--targets", "targets.csv")
        check(done.returncode in (1, 2) and words in done.stderr.decode(), (words, done.stderr))


def test_training_refused():
    two()
    open("data.csv", "w").write("\n".join("%d,%d" % row for row in ROWS) + "\n")
    open("targets.csv", "w").write("0\n1\n0\n1\n")
    open("bad.csv", "w").write("0\n1\n-1\n1\n")
    files = ["--data", "data.csv", "--targets", "targets.csv"]
    for args, words in ((["--data", "data.csv"], "need both data and targets"), (files + ["--batch", "2"], "no label batch_end"),
                        (files + ["--classes", "1"], "of 1 classes"), (files + ["--init", "other"], "none of none"),
                        (files + ["--goal", "x"], "'x' is not a number"), (files + ["--on", "x"], "'x' is not a number"),
                        (["--data", "data.csv", "--targets", "bad.csv"], "-1 is no class"),
                        (files + ["--test-data", "data.csv", "--test-targets", "data.csv"], "those of the test 2")):
        done = call("train", "two.tvmr", *args)
        check(done.returncode in (1, 2) and words in done.stderr.decode(), (words, done.stderr))
    check(b"option '--metadata' of asm" in call("train", "two.tvmr", *files, "--batch", "2").stderr, "which option writes labels")
    write("greedy.tasm", TWO.replace("if_zero H1, done\n", "set H1, 1\n"))
    exits(0, "asm", "greedy.tasm", "-o", "greedy.tvmr")
    done = call("train", "greedy.tvmr", *files, "--test-data", "data.csv", "--test-targets", "targets.csv")
    check(done.returncode == 1 and b"instruction" in done.stderr or b"without a target" in done.stderr, done.stderr)
    write("fails.tasm", TWO.replace("done:\n", "done:\nrelu H1, H40\n"))
    exits(0, "asm", "fails.tasm", "-o", "fails.tvmr")
    done = call("train", "fails.tvmr", *files)
    check(done.returncode == 1 and b"E_UNALLOC: H40 is not allocated" in done.stderr, done.stderr)
    check(call("train", "two.tvmr", *files, "--save", "data.csv").returncode == 2, "writes over what it reads")


NUMPY = """
import numpy, penta
from penta import tvmr
net = tvmr.Network(penta.assemble('.registers\\nC0: ternary[2, 3] key="w"\\nH0: i32[3]\\n.program\\nload_input H0\\n'
                                  'ternary_matmul H1, C0, H0\\nstore_output H1\\nhalt\\n', "tvmr"))
weights, data = numpy.arange(-3, 3, dtype=numpy.int32).reshape(2, 3), numpy.array([1, 2, 3], dtype=numpy.int32)
net.set("C0", weights)
seen = numpy.asarray(net.run(data))
assert (seen == weights @ data).all() and not seen.flags.writeable and not seen.flags.owndata
assert seen.ctypes.data == numpy.asarray(net.output).ctypes.data
try:
    net.run(data)
    raise SystemExit("an array outlived the memory that it shows")
except BufferError:
    pass
rows, classes = numpy.array([[9, 1], [1, 9], [8, 2], [2, 7]]), numpy.array([0, 1, 0, 1])
two = tvmr.Network(penta.assemble(open("two.tasm").read(), "tvmr"))
assert two.train(rows, classes, off=-255).judged.right == 4
"""


def test_numpy_takes_views():
    """Registers and outputs as arrays, without a copy."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise Skipped("NumPy is not installed")
    two()
    library = os.path.join(os.path.dirname(os.path.dirname(PENTA)), "lib/libpenta.so")
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "bindings/python"), "PENTA_LIBRARY": library, "PYTHONDONTWRITEBYTECODE": "1"}
    if "asan" in library:
        raise Skipped("the interpreter has no sanitizer")
    done = run_program(sys.executable, "-c", NUMPY, text=True, env=environment)
    check(done.returncode == 0, done.stderr)


def test_deadline():
    """What was learnt before the deadline is kept."""
    two()
    open("data.csv", "w").write("9,1\n1,9\n" * 500)
    open("targets.csv", "w").write("0\n1\n" * 500)
    done = call("train", "two.tvmr", "--data", "data.csv", "--targets", "targets.csv", "--epochs", "100000000", "--timeout", "1",
                "--off", "-255", "--save", "w.tvmw", "--json")
    said = json.loads(done.stdout)
    check(done.returncode == 25 and said["ended"] == "deadline" and said["accuracy"] == 1, (done.returncode, said.get("ended"), done.stderr))
    check(os.path.exists("w.tvmw"), "saved")
    # So many rows that judging alone takes longer than the deadline.
    open("data.csv", "w").write("9,1\n1,9\n" * 100000)
    open("targets.csv", "w").write("0\n1\n" * 100000)
    files = ["--data", "data.csv", "--targets", "targets.csv", "--test-data", "data.csv", "--test-targets", "targets.csv"]
    done = call("train", "two.tvmr", *files, "--epochs", "100000000", "--timeout", "0.2")
    check(done.returncode == 25 and b"ended by deadline" in done.stdout and b"error" not in done.stderr, done)


def test_early_stop():
    """Patience ends it, and the best weights stay; outputs as targets."""
    two()
    random.seed(1)
    open("data.csv", "w").write("\n".join("%d,%d" % (random.randrange(9), random.randrange(9)) for _ in range(40)) + "\n")
    open("targets.csv", "w").write("\n".join(str(random.randrange(2)) for _ in range(40)) + "\n")
    done = exits(0, "train", "two.tvmr", "--data", "data.csv", "--targets", "targets.csv", "--epochs", "200", "--patience", "3",
                 "--off", "-255", "--json")
    said = json.loads(done.stdout)
    check(said["ended"] == "patience" and said["epochs_done"] == said["best"] + 3, said)
    open("outputs.csv", "w").write("\n".join("255,-255" for _ in range(40)) + "\n")
    said = json.loads(exits(0, "train", "two.tvmr", "--data", "data.csv", "--targets", "outputs.csv", "--epochs", "3", "--json").stdout)
    check(said["accuracy"] > .9 and len(said["confusion"]) == 2, said)


def test_goal_in_percent():
    """A goal ends it when it is reached exactly, not one below it; of two rows that contradict each other one is wrong."""
    two()
    open("data.csv", "w").write("9,1\n1,9\n8,2\n8,2\n")
    open("targets.csv", "w").write("0\n1\n0\n1\n")
    for goal, ended in (("75", "goal"), ("75.1", "epochs"), ("0", "goal")):
        done = exits(0, "train", "two.tvmr", "--data", "data.csv", "--targets", "targets.csv", "--off", "-255", "--epochs", "20", "--goal", goal, "--json")
        said = json.loads(done.stdout)
        check(said["ended"] == ended and said["accuracy"] <= .75 and (said["epochs_done"] == 1 or goal != "0"), (goal, said))
        check(said["accuracy"] == .75 or goal == "0", (goal, said))


if __name__ == "__main__":
    sys.exit(main(globals()))

#!/usr/bin/env python3
"""arduino.py PENTA [FOLDER] [--accept]: the 59 example sketches in folders 01 to 08 of Debian's package `arduino` compile without a
change and, under a script of inputs, do to the pins and print what arduino/NAME.trace says. The sketches are in FOLDER, or where the
package puts them, or in the package, which is downloaded and unpacked, not installed. `--accept` writes the traces."""
import glob
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import expect, penta, run_program, skip, summary, write

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arduino")
EXAMPLES = "usr/share/doc/arduino/examples"
FUEL, LINES = 3000000, 30
INPUTS = """0 analog 14 450
0 analog 15 700
0 analog 16 5
1020 digital 2 1
1050 analog 14 700
1090 digital 2 0
1100 analog 14 1000
1400 digital 2 1
3000 digital 2 0
"""
PULSES = "".join(f"{t} digital {pin} {level}\n" for t in range(1100, 3000, 10) for pin in (2, 3, 7) for level in ((1,) if t % 20 else (0,)))
SCRIPTS = {  # inputs beside or in place of those above; the clock of the trace begins at 1000
    "Dimmer": "1005 serial 0 10 200\n1009 serial 0 0\n", "MultiSerial": '1005 serial 0 "to one"\n1007 serial 1 "from one"\n',
    "PhysicalPixel": '1005 serial 0 "H"\n1009 serial 0 "L"\n1012 serial 0 "xH"\n', "ReadASCIIString": '1005 serial 0 "5,220,70\\n"\n6000 serial 0 "300, -7 0x\\n"\n',
    "SerialCallResponse": '2000 serial 0 "A"\n2500 serial 0 "AA"\n', "SerialCallResponseASCII": '2000 serial 0 "A"\n2500 serial 0 "AA"\n',
    "SerialEvent": '1005 serial 0 "first line\\nsecond"\n1050 serial 0 " line\\n"\n', "SerialPassthrough": '1005 serial 0 "out"\n1007 serial 1 "in"\n',
    "switchCase2": '1005 serial 0 "a"\n1020 serial 0 "e"\n1030 serial 0 "x"\n', "CharacterAnalysis": '1005 serial 0 "a7 ~"\n', "StringLength": '1005 serial 0 "hello"\n1050 serial 0 "' + "long " * 30 + '"\n',
    "StringToInt": '1005 serial 0 "123\\n"\n1050 serial 0 "-45x6\\n"\n', "Memsic2125": PULSES, "Ping": PULSES,
}


def sketches(folder):
    found = sorted(glob.glob(os.path.join(folder, "0[1-8].*", "*", "*.ino")))
    return found if len(found) == 59 else []


def package(folder):
    """The examples of the package, unpacked; where it cannot be had the test is skipped."""
    done = run_program("apt-get", "download", "arduino", cwd=folder)
    archives = glob.glob(os.path.join(folder, "arduino_*.deb"))
    if done.returncode or not archives:
        skip("the package arduino cannot be downloaded")
    run_program("dpkg-deb", "-x", archives[0], "package", cwd=folder, needed=True)
    return sketches(os.path.join(folder, "package", EXAMPLES))


def folded(text):
    """Lines, repeated ones once with their number; the first ones, and never the last, which the fuel may cut."""
    lines = []
    for line in text.split("\n")[:-2]:
        if lines and lines[-1][0] == line:
            lines[-1][1] += 1
        else:
            lines.append([line, 1])
    return "".join(line + (f"   x{count}" if count > 1 else "") + "\n" for line, count in lines[:LINES])


def sketch_test(path, accept):
    name = os.path.basename(path)[:-4]
    own = SCRIPTS.get(name, "")
    lines = (own if own == PULSES else INPUTS + own).splitlines(True)
    write("inputs", "".join(sorted(lines, key=lambda line: int(line.split()[0]))))
    done = penta("compile", path, "-o", "sketch.cvbc", text=True)
    if not expect(done.returncode == 0, f"{name} compiles: {done.stderr[:500]}"):
        return
    done = penta("validate", "--strict", "sketch.cvbc", text=True)
    expect(done.returncode == 0, f"{name} is valid: {done.stdout}{done.stderr}")
    # The trace has a clock here that ticks, so that programs which wait for the time go on.
    done = penta("run", "-q", "--fuel", str(FUEL), "--board", "trace", "--clock-hz", "1000000", "--script", "inputs", "sketch.cvbc")
    text = done.stdout.decode("latin-1")
    expect(done.returncode in (0, 24) and "trap" not in text.split("\n")[-2], f"{name} runs: exit {done.returncode}, {text[-300:]} {done.stderr}")
    got, trace = folded(text), os.path.join(TRACES, name + ".trace")
    if accept:
        write(trace, got.encode("latin-1"))
    wanted = open(trace, encoding="latin-1", newline="").read() if os.path.exists(trace) else ""
    expect(got == wanted, f"{name} does what it should:\n{got}")


def main():
    arguments = [a for a in sys.argv[2:] if a != "--accept"]
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        found = sketches(os.path.abspath(arguments[0])) if arguments else sketches("/" + EXAMPLES) or package(folder)
        expect(len(found) == 59, f"59 sketches, not {len(found)}")
        for path in found:
            sketch_test(path, "--accept" in sys.argv)
        return summary()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())

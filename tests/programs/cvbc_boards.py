#!/usr/bin/env python3
"""What holds a program of cvbc to its word: what compile declares, what validate, board check and run make of it, boards
as files, and the clock of the simulated board.

    tests/programs/cvbc_boards.py PENTA
"""
import json
import os
import random
import re
import struct
import sys
import zlib

from support import ROOT, expect, in_one_folder, penta, tests_of, write


BOARDS = os.path.join(ROOT, "src/formats/cvbc/boards")
KEYS = os.path.join(ROOT, "tests/keys")


def penta_text(*args, **more):
    return penta(*args, text=True, **more)


def read(name):
    with open(name, "rb") as file:
        return bytearray(file.read())


def declared(name):
    return json.loads(penta_text("info", "--json", name).stdout)["info"]["declarations"]


def compiled(name, source, *options):
    write(name + ".ino", source.encode())
    return penta_text("compile", name + ".ino", *options, "-o", name + ".cvbc")


SKETCH = """int led = 13;
int row[] = {4, 7, 9};
void blink(int pin) { digitalWrite(pin, HIGH); delay(1); digitalWrite(pin, LOW); }
void setup() {
  pinMode(led, OUTPUT);
  pinMode(2, INPUT_PULLUP);
  for (int i = 0; i < 3; i++) pinMode(row[i], OUTPUT);
  for (int pin = 10; pin < 12; pin++) pinMode(pin, OUTPUT);
}
void loop() {
  for (byte i = 0; i < 3; i++) blink(row[i]);
  for (int pin = 11; pin >= 10; pin--) digitalWrite(pin, digitalRead(2));
  blink(led);
  analogWrite(9, analogRead(A0) / 4);
  Serial.println(led);
}
"""
GPIO, PWM = ("gpio", "output"), ("pwm_out", "alternate")
USED = {2: ("gpio", "input"), 4: GPIO, 7: GPIO, 9: PWM, 10: GPIO, 11: GPIO, 13: GPIO, 14: ("adc_in", "analog")}
PLACES = {2: "D2", 4: "D4", 7: "D7", 9: "B1", 10: "B2", 11: "B3", 13: "B5", 14: "C0"}  # of an ATmega328P


def test_what_a_sketch_uses_is_declared():
    for target in ([], ["--target", "atmega328p"], ["--target", "esp32"], ["--strip"]):
        expect(compiled("all", SKETCH, *target).returncode == 0, f"compile {target}")
        done = penta_text("validate", "--strict", "all.cvbc")
        expect(done.returncode == 0, f"{target}: {done.stderr}")
        d = declared("all.cvbc")
        expect({p["logical"]: (p["function"], p["mode"]) for p in d["pins"]} == USED, f"{target}: {d['pins']}")
        expect({p["logical"]: p.get("place") for p in d["pins"]} == (PLACES if "atmega328p" in target else dict.fromkeys(USED)), str(d["pins"]))
        expect(d["enforced"] and not d["any_pin"] and d["uarts"] == "0x1" and d["adc_channels"] == "0x1" and d["heap_bytes"] == 12 and
               d["stack_words"] > 3, str(d))
        ran = penta_text("run", "-q", "--budget", "20000", "all.cvbc").stdout
        expect("BUDGET_EXHAUSTED" in ran and ran.startswith("13\n13\n"), ran)
    info = json.loads(penta_text("info", "--json", "all.cvbc").stdout)["info"]
    expect(info["version"] == "1.3" and info["target"]["features"] == "GPIO UART PWM ADC TIMERS" and info["target"]["min_ram_kb"] == 1, str(info))
    expect("pin_pull=up" in penta_text("dis", "all.cvbc").stdout, "the pull of pinMode")
    expect(compiled("old", SKETCH, "--portable").returncode == 0 and penta_text("validate", "--strict", "old.cvbc").returncode == 0, "portable")
    info = json.loads(penta_text("info", "--json", "old.cvbc").stdout)["info"]
    expect(info["version"] == "1.0" and info["pins"] == len(USED) and "declarations" not in info, str(info))


def test_pins_that_are_not_known():
    source = "void setup() { randomSeed(millis()); int p = random(100); pinMode(p, OUTPUT); }\nvoid loop() {}\n"
    done = compiled("any", source)
    expect(done.returncode == 1 and "CVBC0051" in done.stderr and "any.ino:1:" in done.stderr and "--any-pin" in done.stderr, done.stderr)
    expect(compiled("any", source, "--any-pin").returncode == 0 and declared("any.cvbc")["any_pin"], "--any-pin")
    expect(compiled("few", "void setup() { pinMode(2 + (millis() & 3), OUTPUT); }\nvoid loop() {}\n").returncode == 0, "a few pins")
    expect([p["logical"] for p in declared("few.cvbc")["pins"]] == [2, 3, 4, 5], "a range")


def test_computed_pins():
    """Ranges go through parameters, results and comparisons."""
    for text, pins in (("constrain(v, 2, 5)", range(2, 6)), ("2 + millis() % 6", range(2, 8)), ("random(3, 6)", range(3, 6)), ("max(0, min(v, 3))", range(4)),
                       ("constrain(map(v, 0, 1023, 2, 7), 2, 7)", range(2, 8)), ("v > 5 ? 3 : v < -5 ? 9 : 4", (3, 4, 9))):
        done = compiled("computed", f"int v;\nvoid loop() {{ v = Serial.read(); pinMode({text}, OUTPUT); }}\nvoid setup() {{}}\n")
        expect(done.returncode == 0, f"{text}: {done.stderr}")
        expect([p["logical"] for p in declared("computed.cvbc")["pins"]] == list(pins), f"{text}: {declared('computed.cvbc')['pins']}")


def test_a_pin_that_an_inner_function_writes():
    """A function may write words of a frame that is not its caller's."""
    write("deep.cvasm", b"    PUSH 5\n    CALL outer\n    PUSH 1\n    PIN_MODE\n    HALT\nouter:\n    CALL inner\n    RET\n"
                        b"inner:\n    PUSH 9\n    STORE_LOCAL 2\n    RET\n")
    done = penta_text("create", "deep.cvasm", "--enforce", "-o", "deep.cvbc")
    expect(done.returncode == 1 and "the pin of pinMode is not known" in done.stderr, done.stderr)


def random_pins(seed):
    """A sketch that computes pins in functions with branches, loops and recursion."""
    r = random.Random(seed)
    names = [f"f{i}" for i in range(r.randrange(1, 5))]

    def value(known, depth=0):
        kind = r.randrange(9 if depth < 3 else 3)
        if kind < 3:
            return r.choice(known + ["g", str(r.randrange(12))])
        a, b = value(known, depth + 1), value(known, depth + 1)
        if kind < 7:
            return r.choice([f"({a} + {b})", f"({a} - {b})", f"({a} % {r.randrange(1, 9)})", f"({a} & {r.randrange(8)})", f"(({a}) / {r.randrange(1, 9)})",
                             f"constrain({a}, {r.randrange(4)}, {r.randrange(4, 12)})", f"({a} < {b} ? {b} : {a})", f"(unsigned)({a}) % {r.randrange(1, 9)}u",
                             f"({a} * {r.randrange(4)})", f"min({a}, {b})"])
        return f"{r.choice(names)}({a}, {b})"

    lines = ["int g, deep;"] + [f"int {name}(int x, int y);" for name in names]
    for name in names:
        lines += [f"int {name}(int x, int y) {{", "  if (deep > 3) return x;", "  deep++;"]
        for _ in range(r.randrange(4)):
            lines.append("  " + r.choice([f"if (x < {r.randrange(12)}) x = {value(['x', 'y'])};", f"if (y >= {r.randrange(12)}) y = {value(['x', 'y'])};",
                                          f"for (int i = 0; i < {r.randrange(1, 4)}; i++) x = {value(['x', 'i'])};", f"g = {value(['x', 'y'])};",
                                          f"if (x == y) {{ deep--; return {value(['y'])}; }}"]))
        lines += ["  deep--;", f"  return {value(['x', 'y'])};", "}"]
    lines += ["void setup() {}", "void loop() {"] + [f"  pinMode(constrain({value(['g'])}, 0, 15), OUTPUT);" for _ in range(3)]
    lines += [f"  digitalWrite({r.choice(['', '(unsigned)'])}({value(['g'])}) % 8u, HIGH);", f"  g = {value(['g'])} + millis() % 50;", "  delay(7);", "}"]
    return "\n".join(lines) + "\n"


def test_computed_pins_are_those_of_the_run():
    known = 0
    for seed in range(150):
        done = compiled("computed", random_pins(seed))
        if done.returncode:
            expect("CVBC0051" in done.stderr, f"seed {seed}: {done.stderr}")
            continue
        known += 1
        held, free = (penta_text("run", "--budget", "20000", "computed.cvbc", *more).stdout for more in ([], ["--undeclared", "allow"]))
        expect(held == free and "steps=" in held, f"seed {seed}: {held[:60]} instead of {free[:60]}")
    expect(known > 50, f"{known} of 150 sketches are known")


LED = "void setup() { pinMode(13, OUTPUT); digitalWrite(13, HIGH); }\nvoid loop() { delay(1); }\n"


def test_pins_that_the_user_declares():
    source = "void setup() { pinMode(3, OUTPUT); digitalWrite(3, HIGH); }\nvoid loop() {}\n"
    expect(compiled("own", source, "--pin", "C3:gpio:output").returncode == 0, "a declared pin")
    done = compiled("own", source, "--pin", "C3:gpio:input")
    expect(done.returncode == 1 and "own.ino:1:" in done.stderr and "declared as gpio input" in done.stderr, done.stderr)
    # A place and a logical pin are the same pin where the target maps it, and only there.
    for name, target, pin in (("place", "atmega328p", "B5"), ("logical", "atmega328p", "13"), ("other", "stm32g431", "13"), ("none", None, "13")):
        done = compiled(name, LED, *(["--target", target] if target else []), "--pin", pin + ":gpio:output")
        expect(done.returncode == 0 and [p["logical"] for p in declared(name + ".cvbc")["pins"]] == [13], f"{name}: {done.stderr}")
        expect(penta_text("validate", "--strict", name + ".cvbc").returncode == 0, f"{name} is valid")
        expect("BUDGET_EXHAUSTED" in penta_text("run", "--budget", "99", name + ".cvbc").stdout, f"{name} runs")
    expect(declared("place.cvbc") == declared("logical.cvbc") and declared("other.cvbc")["pins"][0]["place"] == "C6", "one pin, two names")
    expect(compiled("numbered", LED, "--target", "stm32g431", "--pin", "C13:gpio:output").returncode == 0 and
           [(p["logical"], p["place"]) for p in declared("numbered.cvbc")["pins"]] == [(13, "C13")], "a place of the first engine is its number, too")
    for target, pin, says in (("atmega328p", "D5", "pin 13, which is not declared"), ("atmega328p", "5", "pin 13, which is not declared"), ("atmega328p", "E3", "ports A to D of 8 pins"),
                              ("fe310", "14", "fe310 has no logical pin 14"), ("fe310", "20", "logical pins are 0 to 19")):
        done = compiled("wrong", LED, "--target", target, "--pin", pin + ":gpio:output")
        expect(done.returncode and says in done.stderr, f"{target} {pin}: {done.stderr}")
    done = compiled("twice", LED, "--target", "atmega328p", "--pin", "B5:gpio:output", "--pin", "13:gpio:output")
    expect(done.returncode and "is declared already" in done.stderr, done.stderr)
    done = compiled("once", LED, "--pin", "13:gpio:input")  # one fault, two uses
    expect(done.returncode == 1 and done.stderr.count("error[") == 1 and "once.ino:1:16" in done.stderr, done.stderr)
    done = compiled("once", LED, "--pin", "12:gpio:output")
    expect(done.returncode == 1 and done.stderr.count("error[") == 1 and "pin 13, which is not declared" in done.stderr, done.stderr)
    done = compiled("two", "void setup() { pinMode(15, OUTPUT); analogWrite(15, 9); analogRead(15); }\nvoid loop() {}\n")
    expect(done.returncode == 1 and "a PWM output and as an analog input" in done.stderr, done.stderr)


def test_targets_that_lack_something():
    write("ad.ino", b"void setup() {}\n\nvoid loop() {\n  int v = analogRead(A0);\n  printf(\"%d\", v);\n}\n")
    for command in ("create", "compile"):
        done = penta_text(command, "ad.ino", "--target", "fe310", "-o", "ad.cvbc")
        expect(done.returncode == 1 and "ad.ino:4:11" in done.stderr and "feature ADC, which fe310 does not have" in done.stderr and
               done.stderr.count("error") == 2, done.stderr)
    for board, says in (("stm32g431", "C7 of stm32g431 is not an analog input"), ("nrf51822", None), ("atmega328p", None), ("rp2040", None), ("host", None)):
        done = penta_text("compile", "ad.ino", "--target", board, "-o", "ad.cvbc")
        expect(done.returncode == (1 if says else 0) and (not says or says in done.stderr), f"{board}: {done.stderr}")
    done = compiled("serial", "void setup() { pinMode(1, OUTPUT); Serial.println(1); }\nvoid loop() {}\n", "--target", "atmega328p")
    expect(done.returncode == 1 and "pin 1 of atmega328p is D1, TX of UART 1" in done.stderr, done.stderr)
    # Every pin of a bus that is used, for compile and board check.
    for board, pin, uses, says in (("atmega328p", 0, "Serial.println(1)", "D0, RX of UART 1"), ("atmega328p", 13, "SPI.transfer(1)", "B5, SCK of SPI 1"),
                                   ("atmega328p", 18, "Wire.beginTransmission(1)", "C4, SDA of I2C 1"), ("atmega328p", 13, "Serial.println(1)", None)):
        source = f"#include <Wire.h>\n#include <SPI.h>\nvoid setup() {{ pinMode({pin}, OUTPUT); {uses}; }}\nvoid loop() {{}}\n"
        done = compiled("bus", source, "--target", board)
        expect(done.returncode == (1 if says else 0) and (not says or says in done.stderr) and done.stderr.count("error[") == (1 if says else 0), done.stderr)
        compiled("bus", source)
        done = penta_text("board", "check", "--board", board, "bus.cvbc")
        expect(done.returncode == (1 if says else 0) and (not says or says in done.stderr) and done.stderr.count("error[") == (1 if says else 0), done.stderr)
    done = compiled("irq", "void h() {}\nvoid setup() { attachInterrupt(4, h, RISING); }\nvoid loop() {}\n", "--target", "atmega328p")
    expect(done.returncode == 1 and "D4 of atmega328p is not an interrupt input" in done.stderr, done.stderr)
    expect(compiled("irq", "void h() {}\nvoid setup() { attachInterrupt(4, h, RISING); }\nvoid loop() {}\n", "--target", "rp2040").returncode == 0, "any pin of others")
    # A pin that is not known must at least be one that the board can have.
    source = "void setup() { Serial.begin(9600); }\nvoid loop() { analogRead(Serial.read()); }\n"
    for extra, says in ((["--any-pin", "--target", "fe310"], "needs the feature ADC"), (["--any-pin", "--target", "atmega328p"], None), (["--target", "atmega328p"], "is not known")):
        done = compiled("any", source, *extra)
        expect(done.returncode == (1 if says else 0) and (not says or says in done.stderr), done.stderr)
    compiled("any", source, "--any-pin")
    expect("needs the feature ADC" in penta_text("board", "check", "--board", "fe310", "any.cvbc").stderr, "board check of any pin")
    # The same of a file that declares nothing, and of one for no board.
    expect(penta_text("compile", "ad.ino", "-o", "ad.cvbc").returncode == 0, "for no board")
    for command in (["board", "check"], ["validate"]):
        done = penta_text(*command, "--board", "fe310", "ad.cvbc")
        expect(done.returncode == 1 and "feature ADC" in done.stderr, done.stderr)
        expect(penta_text(*command, "--board", "stm32f411", "ad.cvbc").returncode == 0, "a board with an ADC")
    write("bare.cvasm", b"    PUSH 14\n    ANALOG_READ\n    HALT\n")
    penta_text("asm", "bare.cvasm", "-o", "bare.cvbc")
    done = penta_text("board", "check", "--board", "fe310", "bare.cvbc")
    expect(done.returncode == 1 and done.stderr.count("error[CVBC0052]") == 1, done.stderr)
    expect(penta_text("run", "-q", "--board", "fe310", "bare.cvbc").returncode == 0, "older files run as before")
    done = penta_text("validate", "bare.cvbc")
    expect(done.returncode == 0 and done.stderr.count("warning[CVBC0113]") == 1, done.stderr)


def test_enforce_a_program_in_assembly():
    write("asm.cvasm", b"    PUSH 5\n    PUSH 1\n    PIN_MODE\n    HALT\n")
    expect(penta_text("create", "asm.cvasm", "--enforce", "--target", "atmega328p", "-o", "asm.cvbc").returncode == 0, "create --enforce")
    expect([(p["logical"], p["place"]) for p in declared("asm.cvbc")["pins"]] == [(5, "D5")], "its pin")
    expect(penta_text("create", "asm.cvasm", "-o", "plain.cvbc").returncode == 0 and
           "declarations" not in json.loads(penta_text("info", "--json", "plain.cvbc").stdout)["info"], "without the option")
    write("any.cvasm", b"    MICROS\n    DIGITAL_READ\n    HALT\n")
    done = penta_text("create", "any.cvasm", "--enforce", "-o", "asm.cvbc")
    expect(done.returncode == 1 and "instruction 1: the pin of digitalRead is not known" in done.stderr, done.stderr)


def test_the_switch_cannot_be_turned_off():
    """The header of a sealed file can be changed without its key; then it contradicts the metadata."""
    compiled("all", SKETCH, "--strip")
    secret = ["--key-file", os.path.join(KEYS, "symmetric.hex")]
    expect(penta_text("seal", "all.cvbc", *secret, "-o", "sealed.cvbc").returncode == 0, "seal")
    expect(penta_text("run", "-q", "--budget", "5000", "sealed.cvbc", *secret).stdout.startswith("13\n"), "it runs")
    for minor in (0, 2):
        file = read("sealed.cvbc")
        file[6:8] = struct.pack("<H", minor)
        file[12:16] = struct.pack("<I", zlib.crc32(bytes(file[:12])))
        write("lowered.cvbc", bytes(file))
        for command in (["validate"], ["run", "-q", "--unverified"]):
            done = penta_text(*command, "lowered.cvbc", *secret)
            expect(done.returncode == 1 and "CVBC0035" in done.stderr, done.stderr)


def test_board_files():
    write("plain.ino", b"void setup() { delay(1); }\nvoid loop() {}\n")
    names = penta_text("board", "list").stdout.split()
    expect(sorted(names) == sorted(f[:-6] for f in os.listdir(BOARDS)), "every file is a board")
    for name in names:
        text = penta_text("board", "show", name).stdout
        expect(text == read(os.path.join(BOARDS, name + ".board")).decode() and f"\nname = {name}\n" in text, name)
        write("copy.board", text.encode())
        expect(penta_text("compile", "plain.ino", "--target", "./copy.board", "-o", "x.cvbc").returncode == 0, name + " is a good file")
    listed = json.loads(penta_text("board", "show", "fe310", "host", "--json").stdout)["boards"]
    expect([b["name"] for b in listed] == ["fe310", "host"] and "SiFive" in listed[0]["text"], "as JSON")
    expect("did you mean 'fe310'" in penta_text("board", "show", "fe301").stderr, "an unknown board")
    good = "name = mine\nports = 2\npins = 8\nuarts = 1\n"
    compiled("plain", LED)
    for text in ("", "# nothing\n\n"):
        write("empty.board", text.encode())
        done = penta_text("board", "check", "--board", "./empty.board", "plain.cvbc")
        expect(done.returncode != 0 and "no line about a board" in done.stderr and done.stderr.count("error[") == 1, done.stderr)
    for line, says in (("speed = 4", "line 5: not a field of a board: 'speed'"), ("pin = 20 A1", "logical pins are 0 to 19, not '20'"),
                       ("spi", "line 5: a line is key = value, not 'spi'"), ("ports = 3", "said twice: 'ports'"), ("ram_kb = much", "a bad value: 'much'"),
                       ("ram_kb = 4294967296", "a bad value"), ("pin = 1", "a place is a port and a number"), ("pin = 1 7", "as C13, not '7'"),
                       ("pin = 1 A1 dac=1", "of a pin are adc=N, pwm=N.N, af=N and interrupt=N, not 'dac=1'"), ("pin = 1 A1 pwm=1", "not 'pwm=1'"),
                       ("pin = 1 A1\npin = 1 A2", "line 6: there is already a pin '1'"), ("pin = 1 C1", "pin 1 is C1, of 2 ports of 8 pins"),
                       ("uart = 1 A1", "a place is a port"), ("uart = 2 A1 A2", "uart 2, of 1"), ("uart = 0 A1 A2", "counted from 1"),
                       ("uart = 1 A1 A2 A3", "that is too much: 'A3'"), ("uart = 1 A1 A8", "uart 1 is at A8"), ("pins = 8", "said twice"),
                       ("uart = 1 A1 A2\nuart = 1 A1 A2", "it has pins already"), ("library = uart", "a name and MAJOR.MINOR"),
                       ("architecture = arn", "a bad value: 'arn'"), ("flash_k = 1", "did you mean 'flash_kb'")):
        write("bad.board", (good + line + "\n").encode())
        done = penta_text("compile", "plain.ino", "--target", "./bad.board", "-o", "x.cvbc")
        expect(done.returncode not in (0, -6, -11) and says in done.stderr, f"{line}: {done.stderr}")


def test_generated_files_of_logical_pins():
    compiled("all", SKETCH)
    expect(penta_text("board", "generate", "all.cvbc", "--board", "stm32f411", "-o", "out").returncode == 0, "board generate")
    made = json.loads(read("out/trinity_board.json"))
    expect(made["logical_pins"] == {"2": "PA10", "4": "PB5", "7": "PA8", "9": "PC7", "10": "PB6", "11": "PA7", "13": "PA5", "14": "PA0"},
           str(made["logical_pins"]))
    done = penta_text("board", "generate", "all.cvbc", "--board", "fe310", "-o", "out")
    expect(done.returncode == 1 and "logical pin 14, which fe310 does not have" in done.stderr, done.stderr)


WAITS = """void setup() {
  while (!digitalRead(2)) {}
  printf("%u %u\\n", millis(), micros());
  while (digitalRead(2)) { if (analogRead(3) > 800) printf("analog %u\\n", micros()); }
  unsigned long start = millis();
  while (millis() - start < 250 && !digitalRead(2)) ;
  printf("%u\\n", micros());
  for (int i = 0; i < 40; i++) { digitalRead(2); millis(); }
  while (!digitalRead(2)) ;
  printf("%u\\n", micros());
}
void loop() {}
"""


def test_loops_that_wait():
    """Loops that only wait are passed in whole rounds: what is printed, with every microsecond, is what executing them prints."""
    write("inputs", b"3 digital 2 1\n5 analog 3 900\n5 analog 3 0\n9 digital 2 0\n300 digital 2 1\n")
    expect(compiled("waits", WAITS).returncode == 0, "compile")
    for hz in ("1000000", "3333", "77777", "1000", "20000000"):
        run = ["run", "-q", "waits.cvbc", "--script", "inputs", "--clock-hz", hz]
        fast = penta_text(*run, "--budget", "300000").stdout
        slow = penta_text(*run, "--plain", "--budget", "30000000").stdout
        events = lambda text: [line for line in text.splitlines() if re.fullmatch(r"[a-z0-9 ]+", line)]
        expect(len(events(fast)) >= 3 and events(fast) == events(slow), f"{hz}: {fast} {slow}")
    run = ["run", "-q", "waits.cvbc", "--script", "inputs"]
    whole = re.sub(r"(fuel|trap|halt) .*\n", "", penta_text(*run, "--fuel", "700").stdout)
    for step in range(0, 700, 13):  # the loop that is passed, and the time, are in snapshots
        before, after = penta_text(*run, "--fuel", str(step), "--save", "at").stdout, penta_text(*run, "--fuel", str(700 - step), "--load", "at").stdout
        expect(re.sub(r"(fuel|trap|halt) .*\n", "", before + after) == whole, (step, before, after, whole))


def test_time_of_boards():
    source = "void setup() { printf(\"%u %u\\n\", millis(), micros()); delay(5); printf(\"%u %u\\n\", millis(), micros()); }\nvoid loop() { delay(1000); }\n"
    expect(compiled("time", source).returncode == 0, "compile")
    for options, says in (([], "0 2\n5 5008\n"), (["--board", "trace"], "1000 1000000\nDelay: 5 ms\n1005 1005000\n"), (["--clock-hz", "0"], "0 0\n5 5000\n"),
                          (["--board", "trace", "--clock-hz", "1000000"], "1000 10000")):
        done = penta_text("run", "-q", "time.cvbc", "--budget", "200", *options)
        expect(done.stdout.startswith(says), f"{options}: {done.stdout}")
    done = penta_text("run", "time.cvbc", "--clock-hz", "1000000001")
    expect(done.returncode == 2 and "from 0 to 1000000000" in done.stderr, done.stderr)
    expect(penta_text("run", "time.cvbc", "--undeclared", "maybe").returncode == 2, "a word that undeclared does not know")


sys.exit(in_one_folder(tests_of(globals())))

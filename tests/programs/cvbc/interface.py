"""The Python package `cvbc`, run inside a fresh environment by tests/programs/python.py.

    interface.py WORK [DATA]        DATA: vectors of the format, where they are present
"""
import glob
import json
import os
import stat
import sys

import cvbc
from cvbc import _library

work, data = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
os.chdir(work)
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        raise SystemExit(f"FAIL {what}")


def refused(kind, code, action):
    try:
        action()
    except cvbc.CVBCError as error:
        check(type(error) is kind and error.code == code, f"{kind.__name__} {code!r}, not {error!r} {error.code!r}")
        return error
    raise SystemExit(f"FAIL no {kind.__name__}")


def raises(kind, action):
    try:
        action()
    except kind:
        check(True, "")
        return
    raise SystemExit(f"FAIL no {kind.__name__}")


# ---- constants are those of the library

prefixes = {"ARCH": "target_architecture", "FAMILY": "target_family", "PIN_FUNC": "pin_function",
            "PIN_MODE": "pin_mode", "PIN_PULL": "pin_pull", "SIG": "signature_algorithm", "HASH": "hash_algorithm",
            "ENC": "encryption_algorithm", "LANG": "source_language", "OPT": "optimization_level",
            "COMPAT": "compatibility_level", "CRIT": "criticality", "PERF_HINT": "hint_type"}
numbers = {name: getattr(cvbc, name) for name in dir(cvbc) if name.isupper()}
for prefix, field in prefixes.items():
    ours = {n[len(prefix) + 1:].lower(): v for n, v in numbers.items() if n.startswith(prefix + "_")}
    theirs = {}
    for value in range(20):
        name = _library.lib.penta_cvbc_name(field.encode(), value)
        if name:
            theirs[name.decode()] = value
    check(ours == theirs, f"{prefix}: {ours} {theirs}")
for opcode in range(256):
    name = cvbc.Instruction(opcode).mnemonic
    check(getattr(cvbc, f"OP_{name}", None) == opcode if name else True, f"OP_{name}")
check(sum(n.startswith("OP_") for n in numbers) ==
      sum(cvbc.Instruction(i).mnemonic is not None for i in range(256)), "every opcode")
for status in cvbc.Status:
    name = _library.lib.penta_cvbc_status_name(status).decode()
    check(name == ("CVBC_ERR_" if status else "CVBC_") + status.name, name)
check({f for f in vars(cvbc.Metadata())} == {r[0] for r in _library._layout("core")[1]}, "metadata")

# ---- the example of the format's text, as written

key = cvbc.generate_key("ed25519")
key.save("private_key.pem")
key.public().save("public_key.pem")
check(stat.S_IMODE(os.stat("private_key.pem").st_mode) == 0o600, "mode of a private key")
raises(FileExistsError, lambda: key.save("private_key.pem"))
compiled_vm_instructions = bytes.fromhex("01000d00 01000100 17000000 01000d00 01000100 10000000 00000000")

# Python API for CVBC generation
import cvbc

# Create new CVBC container
container = cvbc.Container()

# Set hardware requirements
container.set_target(
    architecture=cvbc.ARCH_ARM,
    family=cvbc.FAMILY_STM32,
    variant=0x0431  # STM32G431
)

# Add pin configurations
container.add_pin_config(
    pin_number=13,
    port='C', 
    function=cvbc.PIN_FUNC_GPIO,
    mode=cvbc.PIN_MODE_OUTPUT
)

# Add bytecode
container.set_bytecode(compiled_vm_instructions)

# Generate signed CVBC file
container.save("program.cvbc", 
               sign_with_key="private_key.pem",
               compression=True)

file = open("program.cvbc", "rb").read()
check(cvbc.check("program.cvbc").ok and cvbc.check(file).code == 0 and cvbc.quick_check(file), "check")
check(cvbc.verify(file, "public_key.pem") and cvbc.verify("program.cvbc", key), "verify")
check(not cvbc.verify(file, cvbc.generate_key()), "verify with another key")
loaded = cvbc.load("program.cvbc", trusted_keys=["public_key.pem"], require_signature=True)
check(loaded.signature == cvbc.Signature(cvbc.SIG_ED25519, key.fingerprint, True), "signature")
check(not cvbc.load(file).signature.trusted, "untrusted")
check(loaded.metadata.target_variant == 0x0431 and loaded.metadata.target_features == cvbc.FEATURE_GPIO, "target")
check(loaded.pins == container.pins and loaded.pins[0].name == "C13", "pins")
check(loaded.bytecode == compiled_vm_instructions, "bytecode")
check(loaded.instructions[0] == (cvbc.OP_PUSH, 0, 13) and loaded.instructions[0].mnemonic == "PUSH", "instructions")
needs = loaded.hardware_requirements()
check(needs.pin_count == 1 and needs.pin_configs == loaded.pins and needs.peripheral_mask == 1 and
      needs.feature_requirements == 1 and container.hardware_requirements() == needs, "requirements")

# ---- everything a container can hold

full = cvbc.Container()
full.set_target(cvbc.ARCH_RISCV, cvbc.FAMILY_ESP32, 3, features=cvbc.FEATURE_USB, min_flash_kb=64, min_ram_kb=16)
full.add_pin_config(4, 0, cvbc.PIN_FUNC_PWM_OUT, cvbc.PIN_MODE_ALTERNATE, pull=cvbc.PIN_PULL_UP, drive_strength=2,
                    frequency_hz=80_000, alternate_function=7, initial_state=1, flags=1)
full.add_dependency("uart", (2, 1), features=3, compatibility=cvbc.COMPAT_API, criticality=cvbc.CRIT_OPTIONAL)
full.add_hint(cvbc.PERF_HINT_HOT_PATH, 9, b"\0\0\1\0")
full.set_custom_metadata(b"\x01\x80\x02\x00hi")
full.set_bytecode([(cvbc.OP_PUSH, cvbc.INST_S, -2), (cvbc.OP_PUSH, 0, 1), (cvbc.OP_PRINTF,), (cvbc.OP_HALT, 0, 0)],
                  strings=["v=%d\n", b"raw"], stack=9, variables=2)
full.set_debug(symbols=[("main", cvbc.SYMBOL_FUNCTION, 0), ("main.ino", cvbc.SYMBOL_FILE, 1)],
               lines=[(0, 1, 10), (2, 1, 11)], variables=[("x", cvbc.STORAGE_GLOBAL, 0)])
full.set_build_info(timestamp=1700000000, build_number=7, sources=["int x;\n", b"int y;\n"],
                    compiler_version="3.10.0", source_language=cvbc.LANG_RUST, optimization_level=cvbc.OPT_SPEED)
raises(TypeError, lambda: full.set_build_info(no_such_field=1))
bytes_ = full.to_bytes(deterministic=True)
check(bytes_ == full.to_bytes(deterministic=True), "deterministic")
again = cvbc.load(bytes_)
check(again.metadata.compiler_version == 0x031000 and again.metadata.source_lines_total == 2, "build info")
check(again.metadata.target_features == cvbc.FEATURE_USB | 0x90, "features of pins")
check(again.pins[0].frequency_hz == 80 and again.pins[0].flags == 5 and again.pins == full.pins, "pin fields")
check(again.dependencies == full.dependencies and again.hints == full.hints, "lists")
check(again.custom_metadata == full.custom_metadata and again.strings == ["v=%d\n", "raw"], "custom, strings")
check((again.stack, again.variables, again.build_number, again.timestamp) == (9, 2, 7, 1700000000), "numbers")
check(again.deterministic and again.source_sha256 == full.source_sha256 != bytes(32), "flags, source")
check(again.line_of(3) == ("main.ino", 11) and again.debug and full.line_of(0) is None, "debug")
check(again.to_bytes(deterministic=True) == bytes_, "loaded and written again")
os.environ["SOURCE_DATE_EPOCH"] = "12345"
stamped = cvbc.Container()
stamped.set_bytecode([(cvbc.OP_HALT,)])
check(cvbc.load(stamped.to_bytes(deterministic=True)).timestamp == 12345, "SOURCE_DATE_EPOCH")
del os.environ["SOURCE_DATE_EPOCH"]
check(cvbc.load(stamped.to_bytes(deterministic=True)).timestamp == 0, "no SOURCE_DATE_EPOCH")
check(cvbc.load(stamped.to_bytes()).timestamp > 1600000000, "now")

# ---- keys, signatures, ciphers

for kind, algorithm in (("p256", cvbc.SIG_ECDSA_P256), ("rsa2048", cvbc.SIG_RSA_2048)):
    other = cvbc.generate_key(kind)
    signed = stamped.to_bytes(sign_with_key=other, embed_public_key=False, hash=cvbc.HASH_BLAKE2B)
    check(other.algorithm == algorithm and cvbc.verify(signed, [key, other.public_pem]), kind)
    refused(cvbc.SignatureError, cvbc.Status.KEY, lambda: cvbc.load(signed))
    check(cvbc.verify(cvbc.sign(signed, other), other), "sign again")
    refused(cvbc.SignatureError, cvbc.Status.KEY, lambda: cvbc.sign(signed, key))
    anew = cvbc.sign(signed, key, replace=True)
    check(cvbc.verify(anew, key) and not cvbc.verify(anew, other), "sign over what cannot be checked")
refused(cvbc.SignatureError, cvbc.Status.UNSIGNED, lambda: cvbc.load(bytes_, [key], require_signature=True))
refused(cvbc.SignatureError, cvbc.Status.KEY,
        lambda: cvbc.load(file, [cvbc.generate_key()], require_signature=True))
refused(cvbc.SignatureError, cvbc.Status.KEY, lambda: stamped.to_bytes(sign_with_key=key.public()))
refused(cvbc.SignatureError, cvbc.Status.KEY, lambda: cvbc.load_key(b"nonsense"))
raises(ValueError, lambda: cvbc.generate_key("rsa512"))
changed = bytearray(file)
changed[52] ^= 1  # the build number: no CRC covers it, the signature does
refused(cvbc.SignatureError, cvbc.Status.SIGNATURE, lambda: cvbc.load(bytes(changed), [key]))

secret = bytes(range(32))
open("secret.key", "w").write(secret.hex() + "\n")
for options, opening in (({"encrypt_with_key": secret}, {"key": secret}),
                         ({"encrypt_with_key": "secret.key", "encryption": cvbc.ENC_CHACHA20_POLY1305,
                           "derivation": "hkdf"}, {"key": secret}),
                         ({"password": "hunter2", "iterations": 2000}, {"password": "hunter2"})):
    sealed = container.to_bytes(sign_with_key=key, compression="force", **options)
    opened = cvbc.load(sealed, [key], require_signature=True, **opening)
    check(opened.bytecode == compiled_vm_instructions and opened.compressed and not opened.encrypted, "sealed")
    closed = cvbc.load(sealed, [key])
    check(closed.encrypted and closed.signature.trusted and closed.pins == container.pins, "without the key")
    error = refused(cvbc.DecryptError, cvbc.Status.DECRYPT, lambda: closed.instructions)
    refused(cvbc.DecryptError, cvbc.Status.DECRYPT, lambda: closed.decrypt(bytes(32)))
    closed.decrypt(**opening)
    check(closed.bytecode == compiled_vm_instructions and not closed.encrypted, "decrypt")
    refused(cvbc.DecryptError, cvbc.Status.DECRYPT, lambda: cvbc.load(sealed, password="wrong"))
    check(not cvbc.verify(sealed, key) and cvbc.verify(sealed, key, **opening), "verify a sealed file")
refused(cvbc.DecryptError, cvbc.Status.KEY, lambda: container.to_bytes(encrypt_with_key=b"short"))
check(refused(cvbc.FormatError, cvbc.Status.SECURITY, lambda: full.to_bytes(encrypt_with_key=secret)).findings,
      "debug data stays readable")
check(cvbc.load(full.to_bytes(encrypt_with_key=secret, keep_debug=True), key=secret).strings[0] == "v=%d\n", "keep")

# ---- what is wrong is refused

report = cvbc.check(file[:200])
check(not report and report.code == cvbc.Status.SIZE and report.messages, "a report")
refused(cvbc.FormatError, cvbc.Status.TRUNCATED, lambda: cvbc.load(file[:40]))
refused(cvbc.FormatError, cvbc.Status.MAGIC, lambda: cvbc.load(b"CVBC" + file[4:]))
refused(cvbc.FormatError, cvbc.Status.BYTECODE, lambda: cvbc.Container().to_bytes())
refused(cvbc.FormatError, cvbc.Status.BYTECODE, lambda: cvbc.Container().set_bytecode(b"123"))
raises(ValueError, lambda: container.add_pin_config(300, "C", 1, 1))
raises(ValueError, lambda: container.add_pin_config(3, "CC", 1, 1))
raises(ValueError, lambda: container.add_dependency("a name that is too long"))
raises(TypeError, lambda: container.set_bytecode([1, 2]))
raises(FileNotFoundError, lambda: cvbc.load("missing.cvbc"))
twice = cvbc.Container()
twice.set_bytecode([(0,)])
for _ in range(2):
    twice.add_pin_config(1, "A", cvbc.PIN_FUNC_GPIO, cvbc.PIN_MODE_INPUT)
refused(cvbc.FormatError, cvbc.Status.METADATA, twice.to_bytes)
many = cvbc.Container()
many.set_bytecode(bytes(4 * 65536))
refused(cvbc.FormatError, cvbc.Status.LIMIT, many.to_bytes)

# ---- text, compiler, machine

program = cvbc.assemble('.string "n=%d\\n"\nPUSH 42\nPUSH 1\nPRINTF 0\nPUSH 5\nSTORE_GLOBAL 0\nPUSH 9\nHALT\n')
result = cvbc.run(program)
check(result.ok and result.status == "halted" and result.output == "n=42\n" and result.stack == [9] and
      result.globals == {0: 5} and result.steps == 7, f"run: {result}")
container.set_bytecode(program)
check(cvbc.run(container.to_bytes(compression="force")).output == "n=42\n", "an assembled program in a container")
check(cvbc.assemble(cvbc.disassemble(program)).bytecode == program.bytecode, "round trip")
check(refused(cvbc.FormatError, cvbc.Status.BYTECODE, lambda: cvbc.assemble("FROB 1\n")).findings, "assembler")
sketch = cvbc.compile("int total;\nvoid main() { int i; for (i = 1; i <= 10; i++) total += i;\n"
                      ' printf("%d\\n", total); }\n')
check(cvbc.run(sketch).output == "55\n" and sketch.line_of(0) is not None and cvbc.check_program(sketch), "compile")
error = refused(cvbc.FormatError, cvbc.Status.BYTECODE, lambda: cvbc.compile("void main() {\n  x = 1;\n}\n"))
check("2:" in str(error), f"a place: {error}")
check(cvbc.run(cvbc.assemble("L: JMP L\n"), budget=100).status == "budget", "budget")
fault = cvbc.run(cvbc.assemble("PUSH 1\nPUSH 0\nDIV\nHALT\n"))
check((fault.status, fault.error, fault.error_name, fault.pc) == ("error", 6, "DIVISION_BY_ZERO", 2), "a fault")
check(cvbc.run(cvbc.assemble("PUSH 1\n")).status == "end", "past the end")
check(not cvbc.check_program(cvbc.assemble("POP\nHALT\n")).ok, "underflow")

PINS = cvbc.assemble("PUSH 3\nPUSH 1\nPIN_MODE\nPUSH 3\nPUSH 1\nDIGITAL_WRITE\nPUSH 3\nDIGITAL_READ\nPUSH 4\n"
                     "ANALOG_READ\nPUSH 3\nPUSH 777\nANALOG_WRITE\nPUSH 20\nDELAY\nMILLIS\nMICROS\nHALT\n")


class Board(cvbc.Hal):
    def __init__(self):
        self.calls = []

    def pin_mode(self, pin, mode):
        self.calls.append(("mode", pin, mode))

    def digital_write(self, pin, high):
        self.calls.append(("write", pin, high))

    def digital_read(self, pin):
        return True

    def analog_read(self, pin):
        return 321

    def analog_write(self, pin, value):
        self.calls.append(("analog", pin, value))

    def delay(self, ms):
        self.calls.append(("delay", ms))

    def millis(self):
        return 1234


board = Board()
result = cvbc.run(PINS, hal=board)
check(result.stack == [1, 321, 1234, 20000], f"hal: {result}")
check(board.calls == [("mode", 3, 1), ("write", 3, True), ("analog", 3, 777), ("delay", 20)], board.calls)
check(cvbc.run(PINS, hal="trace").output.startswith("Pin mode: pin 3 = 1\nDigital write: pin 3 = 1\n"), "trace")
Board.digital_write = lambda self, pin, high: False
check(cvbc.run(PINS, hal=board).error == 9, "a refusal")


def broken(self, pin, high):
    raise RuntimeError("loose wire")


Board.digital_write = broken
raises(RuntimeError, lambda: cvbc.run(PINS, hal=board))


class Printer:
    def __init__(self):
        self.text = ""

    def print(self, text):
        self.text += text


printer = Printer()
check(cvbc.run(program, hal=printer).output == printer.text == "n=42\n", "print")

# ---- boards, and programs from before the container

check("stm32g431" in cvbc.boards() and cvbc.check_board(file, "stm32g431").ok, "boards")
check(len(cvbc.check_board(file, "esp32-c3").messages) > 1, "every reason")
BLINK = "void setup() { pinMode(13, OUTPUT); analogRead(A1); }\nvoid loop() {}\n"
blink = cvbc.compile(BLINK, target="atmega328p")
needs = blink.hardware_requirements()
check([p.name for p in needs.pin_configs] == ["B5", "C1"] and needs.enforced and not needs.any_pin, "declarations")
check(needs.feature_requirements == cvbc.FEATURE_GPIO | cvbc.FEATURE_ADC and cvbc.load(blink.to_bytes()).hardware_requirements() == needs,
      "declarations are kept")
check(not cvbc.compile(BLINK).hardware_requirements().enforced and not cvbc.compile(BLINK).pins, "the caller declares")
refused(cvbc.FormatError, cvbc.Status.BYTECODE, lambda: cvbc.compile(BLINK, target="fe310"))
made = cvbc.trinity([loaded], board="stm32g431")
check(sorted(made) == ["trinity.ld", "trinity_board.h", "trinity_board.json", "trinity_pins.hpp"], "trinity")
check(json.loads(made["trinity_board.json"])["min_flash_kb"] == 0, "json")
check(cvbc.trinity("program.cvbc") == made, "one file, one result")
legacy = bytes.fromhex("08000200 00000000 01000100 02000000 09000000 03000000 686900")
converted = cvbc.convert_legacy(legacy)
check(converted.strings == ["hi"] and cvbc.run(converted).ok, "legacy")
refused(cvbc.FormatError, cvbc.Status.LEGACY, lambda: cvbc.convert_legacy(b"garbage!"))

# ---- several programs in one file

import penta  # noqa: E402

first, second = cvbc.assemble("PUSH 1\nHALT\n"), cvbc.assemble("PUSH 2\nPUSH 3\nHALT\n")
both = cvbc.combine({"first": first, "second": second}, sign_with_key=cvbc.generate_key("ed25519"))
check(cvbc.programs(both) == ["first", "second"] and cvbc.programs(first.to_bytes()) == [], "their names")
check(cvbc.run(cvbc.load(both)).stack == [1] and cvbc.run(cvbc.load(both, program="second")).stack == [2, 3], "each runs")
check(cvbc.load(both, program="second").signature is not None and cvbc.check(both).ok, "one signature")
check("did you mean 'second'" in str(refused(cvbc.CVBCError, cvbc.Status.ARG, lambda: cvbc.load(both, program="secnd"))), "near")
refused(cvbc.FormatError, cvbc.Status.METADATA, lambda: cvbc.combine({"a b": first, "c": second}))
modules = {name: penta.open(both, program=name) for name in penta.cvbc.programs(penta.open(both))}
machines = {name: module.machine() for name, module in modules.items()}
saved = machines["second"].save()
machines["second"].load(saved)
try:
    machines["first"].load(saved)
    check(False, "a snapshot of another program")
except penta.Error as error:
    check("another program" in str(error), str(error))

# ---- vectors, where they are

if os.path.isdir(data):
    keys = os.path.join(data, "keys")
    for path in sorted(glob.glob(os.path.join(data, "isa", "*.json"))):
        case = json.load(open(path))
        vector = cvbc.Container()
        vector.set_bytecode(bytes.fromhex(case["code_hex"]), case["strings"], stack=0, variables=0)
        got, want = cvbc.run(vector, hal="trace", budget=case["budget"]), case["expect"]
        want["globals"] = {int(slot): value for slot, value in want["globals"].items()}
        for name, value in want.items():
            check(getattr(got, name) == value, f"{path}: {name} is {getattr(got, name)!r}, not {value!r}")
    for entry in json.load(open(os.path.join(data, "manifest.json"))):
        name = os.path.join(data, "containers", os.path.basename(entry["file"]))
        if not os.path.exists(name):
            continue
        how, want, symmetric = entry["open_with"], entry["expect"], entry["open_with"]["symmetric_key"]
        trusted = [os.path.join(keys, f"{k}.public.pem") for k in how["trusted_keys"]]
        if symmetric:
            secret = bytes.fromhex(json.load(open(os.path.join(keys, "symmetric.json")))[symmetric])
        check(cvbc.quick_check(name) == want["quick_check"], f"{name}: quick")
        check(cvbc.check(name).code.name == want["full_check"], f"{name}: full, {cvbc.check(name)}")
        try:
            one = cvbc.load(name, trusted, secret if symmetric else None,
                            require_signature=how["require_signature"])
            verdict = "DECRYPT" if one.encrypted else "OK"
        except cvbc.CVBCError as error:
            verdict = error.code.name
        check(verdict == want["verify"], f"{name}: {verdict}, not {want['verify']}")
print(f"{checks} passed, 0 failed")

#!/usr/bin/env python3
"""The library as WebAssembly against the tool, over the bytes of every case: facts, findings, tree, listing, and a run by single steps
(which web/answers.mjs also takes backwards); then what penta.js adds to the modules (web/engine.mjs), keys (web/keys.mjs) where OpenSSL was
built, and what the page loads first.

    tests/programs/web.py PENTA WEB        WEB: the folder that make web writes; without it, or without node, the test is skipped
"""
import gzip
import json
import os
import re
import shutil
import sys
import tempfile

from support import COMMANDS, ROOT, dump_cases, expect, penta, read, run_program, skip, summary, write

WEB = sys.argv[2]
KEYS = os.path.join(ROOT, "tests/keys")
NODE = shutil.which("node")
if not NODE or not os.path.exists(os.path.join(WEB, "penta.wasm")):
    skip(f"no node, or no {os.path.join(WEB, 'penta.wasm')}")

FIRST_LOAD = 400_000  # bytes, packed by gzip, that a browser loads until a file is on screen: a promise of docs/web.md
SHOWN = 256  # bytes of a value that the module gives


def same(good, name, what, expected, got):
    expect(good, f"{name}: {what}\n  tool: {json.dumps(expected)[:400]}\n  wasm: {json.dumps(got)[:400]}")


def ask(*args):
    text = COMMANDS.call(*args, "--json", text=True).stdout
    return json.loads(text) if text else {}


def plain(node):
    """A node of the module as the tool writes it."""
    if "kind" in node:
        return {key: value for key, value in node.items() if key not in ("path", "cut")}
    result = {key: node[key] for key in ("name", "offset", "size", "decoded") if key in node}
    if node["list"]:
        result["list"] = True
    return {**result, "children": [plain(child) for child in node.get("children", [])]}


def cut(node):
    """A node of the tool with values as long as the module gives them."""
    if "children" in node:
        return {**node, "children": [cut(child) for child in node["children"]]}
    size = {"raw": 2 * SHOWN, "text": SHOWN}.get(node["kind"])
    return {**node, "value": node["value"][:size]} if size else node


def compare_file(answer, path, name, form):
    told = ask("inspect", path, *form)
    same([cut(node) for node in told["tree"]] == plain(answer["tree"])["children"], name, "tree", told["tree"], answer["tree"])
    if answer["findings"].get("missing"):  # the small module cannot check signatures, and says so
        return
    told = ask("info", path, *form)
    same(told.get("info") == answer["info"], name, "info", told.get("info"), answer["info"])
    told = ask("validate", path, *form)["files"][0]
    keys = ("severity", "code", "offset", "path")
    expected = [{key: one.get(key) for key in keys} for one in told["diagnostics"]]
    got = [{key: one.get(key) for key in keys} for one in answer["findings"]["items"]]
    same(expected == got and told["valid"] == answer["findings"]["valid"], name, "findings", expected, got)


def compare_listing(answer, path, name, form):
    if not isinstance(answer["lines"], list) or not answer["lines"]:
        return
    told = COMMANDS.call("dis", path, "--code-only", *form, text=True)
    got = "".join(f"{line['text']}:\n" if line["kind"] == "label" else f"{line['pc']:6}  {line['text']}\n" for line in answer["lines"])
    same(told.stdout == got, name, "listing", told.stdout, got)


def make_keyed(folder):
    """Signed and sealed files, for web/keys.mjs."""
    def tool(*args):
        done = penta(*args, text=True)
        same(done.returncode == 0, " ".join(args), "exit", 0, done.stderr)

    def at(name):
        return os.path.join(folder, name)

    write(at("plain.cvasm"), '.string "done\\n"\n    PUSH 0\n    PRINTF 0\n    HALT\n')
    tool("asm", at("plain.cvasm"), "-o", at("plain.cvbc"))
    tool("asm", os.path.join(ROOT, "examples/tvmr/relu.tasm"), "-o", at("plain.tvmr"))
    for kind, key in (("ed25519", "signer"), ("p256", "p256"), ("rsa2048", "rsa2048")):
        tool("sign", at("plain.cvbc"), "--sign-key", f"{KEYS}/{key}.pem", "-o", at(kind + ".cvbc"))
    tool("seal", at("plain.cvbc"), "--password-file", f"{KEYS}/password", "-o", at("password.cvbc"))
    for form in ("cvbc", "tvmr"):
        tool("seal", at("plain." + form), "--key-file", f"{KEYS}/symmetric.hex", "-o", at("sealed." + form))


def starts(whole, part):
    """Whether a value is the other one, whose lists may be cut."""
    if isinstance(part, list):
        return len(part) <= len(whole) and (len(part) == len(whole) or len(part) >= 256) and \
            all(starts(a, b) for a, b in zip(whole, part))
    if isinstance(part, dict):
        return whole.keys() == part.keys() and all(starts(whole[key], part[key]) for key in part)
    return whole == part or isinstance(part, str) and len(part) >= 1024 and whole.startswith(part)


def compare_run(answer, path, name, form):
    run = answer["run"]
    fuel = ["--fuel", "40", "--engine", "interp", "--unverified"]
    told = ask("trace", path, *form, *fuel)
    if "error" in run:
        codes = [one["code"] for one in told.get("diagnostics", [])]
        same(not told.get("lines") or answer["findings"].get("missing"), name, f"run refused with {run['error']}", codes, run)
        return
    if "lines" not in told:
        same(False, name, "the tool runs it not", told.get("diagnostics"), run["stops"])
        return
    steps = [(line["step"], line["pc"], line.get("text") or None) for line in told["lines"]]
    got = [(stop["steps"], stop["pc"], stop.get("text")) for stop in run["stops"]][:len(steps)]
    same(steps == got, name, "steps", steps, got)
    expected = (told["stop"], told["pc"], told["steps"])
    end = run["end"]
    same(expected == (end["kind"], end["pc"], end["steps"]), name, "end of the run", expected, end)
    told = ask("run", path, *form, *fuel)
    for key, value in run["state"].items():
        if key in told and key not in ("pc", "host_calls", "memory", "output"):
            same(starts(told[key], value), name, f"state: {key}", told[key], value)
    same(starts(told.get("memory", []), run["state"].get("memory", [])), name, "memory", told.get("memory"),
         run["state"].get("memory"))


def loaded_first():
    """The files that the page loads until a file is on screen, with their sizes."""
    found = {}

    def take(path):
        path = os.path.normpath(path)
        if path in found:
            return
        data = read(os.path.join(WEB, path))
        found[path] = len(gzip.compress(data, 9))
        if path.endswith((".html", ".js")):
            for other in re.findall(r'(?:src|href)="([^":]+)"|from "(\.[^"]+)"', data.decode()):
                take(os.path.join(os.path.dirname(path), *filter(None, other)))

    for path in ("index.html", "worker.js", "examples.json", "penta.wasm"):
        take(path)
    return found


sizes = loaded_first()
same(len(sizes) > 20 and "penta.js" in sizes and "style.css" in sizes, "page", "what it loads", "scripts and style", sorted(sizes))
same(sum(sizes.values()) < FIRST_LOAD, "page", "bytes of the first load", FIRST_LOAD, [sum(sizes.values()), sizes])

with tempfile.TemporaryDirectory() as folder:
    dump_cases(folder)
    version = int(re.match(r"v(\d+)", run_program(NODE, "--version", text=True).stdout)[1])
    flags = ["--experimental-wasm-return-call"] if version < 20 else []
    answers = run_program(NODE, *flags, os.path.join(ROOT, "tests/programs/web/answers.mjs"), os.path.abspath(WEB), folder, text=True)
    engine = run_program(NODE, *flags, os.path.join(ROOT, "tests/programs/web/engine.mjs"), os.path.abspath(WEB), text=True)
    same(engine.returncode == 0, "engine.mjs", "what penta.js adds", 0, engine.stderr)
    if answers.returncode:
        sys.exit(f"FAIL answers.mjs: {answers.stderr}")
    lines = answers.stdout.splitlines()
    files = sorted(os.listdir(folder))
    same([json.loads(line)["name"] for line in lines] == files, "cases", "every file is answered", files, len(lines))
    for line in lines:
        answer = json.loads(line)
        name, path = answer["name"], os.path.join(folder, answer["name"])
        form = ["--format", name.split("-")[0]]
        if "error" in answer:
            told = ask("inspect", path, *form)
            codes = [one["code"] for one in told.get("diagnostics", [])]
            same(answer["error"] in codes, name, "refused", codes, answer["error"])
            continue
        compare_file(answer, path, name, form)
        compare_listing(answer, path, name, form)
        compare_run(answer, path, name, form)
    if os.path.exists(os.path.join(WEB, "penta-crypto.wasm")):
        make_keyed(folder)
        keys = run_program(NODE, *flags, os.path.join(ROOT, "tests/programs/web/keys.mjs"), os.path.abspath(WEB), KEYS, folder, text=True)
        same(keys.returncode == 0, "keys.mjs", "sealed and signed files", 0, keys.stderr)
sys.exit(summary(f"; the first load is {sum(sizes.values())} bytes"))

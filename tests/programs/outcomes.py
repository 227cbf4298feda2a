#!/usr/bin/env python3
"""The files of --sarif and --junit: they are valid whatever happens, have what the command found, and are the same each time.

    tests/programs/outcomes.py PENTA
"""
import json
import os
import shutil
import sys
import xml.etree.ElementTree as tree

from support import PENTA, ROOT, call, check, main, read, run_program, schemas, write

KEYS = os.path.join(ROOT, "tests", "keys")
BROKEN = bytes.fromhex("05b105b1010000001000000001000000ff") + bytes(15)
GOOD = bytes.fromhex("05b105b101000000100000000100000008") + bytes(15)
RACE = os.path.join(ROOT, "examples/gpu/race.gpu")
# Two tasks write what the other one reads; with a barrier between them there is no race.
ORDERED = "$a = alloc 16\nkernel 1\n WRITE64 $a, 1\n HALT\nend\n$t = launch 1\nwait $t, 5000\n$u = launch 1\nwait $u, 5000\nraces == 0\n"


def prepare():
    write("broken.kblob", BROKEN)
    write("good.kblob", GOOD)


def sarif_of(data):
    """The one run of a document, after it was checked."""
    document = json.loads(data)
    schemas.sarif_check(document)
    run, = document["runs"]
    for result in run["results"]:
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        check(rule["id"] == result["ruleId"] and rule["fullDescription"]["text"], rule)
    return run


def sarif(code, *args, **more):
    done = call(*args, "--sarif", "found.sarif", **more)
    check(done.returncode == code, (args, done))
    return sarif_of(read("found.sarif"))


def place(result):
    return result["locations"][0]["physicalLocation"]


def notes(run):
    return run["invocations"][0].get("toolExecutionNotifications", [])


def junit_any(*args):
    """Of a command that may fail in any way."""
    done = call(*args, "--junit", "cases.xml")
    check(done.returncode != 0, done)
    return junit_of(read("cases.xml"))


def junit_of(data):
    root = tree.fromstring(data)
    check(root.tag == "testsuites", root.tag)
    for counted in [root, *root.iter("testsuite")]:
        cases = list(counted.iter("testcase"))
        got = {"tests": len(cases), **{name: sum(case.find(of) is not None for case in cases)
                                       for name, of in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}}
        check({key: int(counted.get(key)) for key in got} == got, (counted.attrib, got))
    return root


def junit(code, *args, **more):
    done = call(*args, "--junit", "cases.xml", **more)
    check(done.returncode == code, (args, done))
    return junit_of(read("cases.xml"))


def cases_of(root):
    return [(case.get("classname"), case.get("name"), case[0].tag if len(case) else "passed") for case in root.iter("testcase")]


# ---- SARIF ----

def test_validate():
    run = sarif(4, "validate", "broken.kblob", "good.kblob", "missing.kblob")
    result, = run["results"]
    check(result["ruleId"] == "KBLOB0009" and result["level"] == "error", result)
    check(place(result) == {"artifactLocation": {"uri": "broken.kblob"}, "region": {"byteOffset": 16, "byteLength": 1}}, result)
    check(result["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "/code/insn[0]/opcode"}], result)
    note, = notes(run)
    check(note["associatedRule"]["id"] == "PENTA0004" and not run["invocations"][0]["executionSuccessful"], note)
    check(sarif(0, "validate", "good.kblob")["results"] == [], "a good file")


def test_the_same_bytes():
    first = call("validate", "broken.kblob", "--sarif", "-").stdout
    check(first == call("validate", "broken.kblob", "--sarif", "-").stdout, "twice")
    sarif(1, "validate", "broken.kblob")
    check(first == read("found.sarif"), "the file and standard output")


def test_lines_of_a_text_count_characters():
    write("bad.kasm", "HALT\nHALT ; \u00e4\u00f6\nWRITE8 1, \u00e4\n")
    run = sarif(1, "asm", "bad.kasm", "-o", "out.kblob")
    regions = [place(result)["region"] for result in run["results"]]
    check(regions and all(region["startLine"] == 3 for region in regions), regions)
    write("label.casm", '.global main\n.func main\n    MOV v0, "\u00e4\u00f6", x y\n    RET\n.endfunc\n')
    run = sarif(1, "asm", "label.casm", "-o", "out.coil")
    column = place(run["results"][0])["region"]["startColumn"]
    document = json.loads(call("asm", "label.casm", "--json").stdout)["diagnostics"][0]
    line = read("label.casm").split(b"\n")[document["line"] - 1]
    check(column == len(line[:document["column"] - 1].decode()) + 1, (column, document))


def test_names_of_files_are_references():
    names = ("a b.kblob", "100%.kblob", "\u00e4.kblob", "x:y.kblob", os.path.abspath("deep.kblob"))
    for name in names:
        write(name, BROKEN)
    uris = [place(result)["artifactLocation"]["uri"] for result in sarif(1, "validate", *names)["results"]]
    check(uris[:4] == ["a%20b.kblob", "100%25.kblob", "%C3%A4.kblob", "./x:y.kblob"], uris)
    check(uris[4].startswith("file:///"), uris)
    run = sarif_of(call("validate", "-", "--sarif", "-", data=BROKEN).stdout)
    check(place(run["results"][0])["artifactLocation"] == {"description": {"text": "standard input"}}, run)


def test_verify_compile_link():
    write("p.cvasm", "PUSH 1\nHALT\n")
    check(call("asm", "p.cvasm", "-o", "p.cvbc").returncode == 0, "asm")
    run = sarif(1, "verify", "p.cvbc", "--trusted-key", f"{KEYS}/signer.pub")
    check(run["results"] and run["results"][0]["ruleId"].startswith("CVBC"), run)
    write("p.ino", "void setup() {\n  nothing = 1;\n}\nvoid loop() { }\n")
    run = sarif(1, "compile", "p.ino", "-o", "p.cvbc")
    check(place(run["results"][0])["region"]["startLine"] == 2, run)
    write("a.casm", ".global main\n.extern gone\n.func main\n    CALL @gone\n    RET\n.endfunc\n")
    check(call("asm", "a.casm", "-o", "a.coil").returncode == 0, "asm")
    run = sarif(1, "link", "a.coil", "-o", "out.coil")
    check(place(run["results"][0])["artifactLocation"]["uri"] == "a.coil", run)


def test_omitted_and_quiet_findings():
    many = bytes.fromhex("05b105b101000000100000000a000000") + (bytes([0xff]) + bytes(15)) * 10
    write("many.kblob", many)
    run = sarif(1, "validate", "many.kblob", "--max-findings", "3")
    check(len(run["results"]) == 3 and notes(run)[0]["message"]["text"].startswith("7 more"), run)
    check("--max-findings" in notes(run)[0]["message"]["text"], "options are named as they are typed")
    warned = bytes.fromhex("05b105b1010000001000000002000000" "08" + "00" * 15 + "01" + "00" * 15)  # after HALT nothing runs
    write("warned.kblob", warned)
    quiet = call("validate", "warned.kblob", "-q", "--sarif", "-")
    check(not quiet.stderr and [r["level"] for r in sarif_of(quiet.stdout)["results"]] == ["warning"], quiet)
    check(json.loads(call("validate", "warned.kblob", "-q", "--json").stdout)["files"][0]["diagnostics"] == [], "a quiet document")


# ---- JUnit ----

def test_conform():
    vectors = os.path.join(ROOT, "tests/vectors/kblob")
    root = junit(0, "conform", vectors)
    check(int(root.get("tests")) > 20 and root.get("failures") == "0", root.attrib)
    write("bad.json", json.dumps({"name": "<&>\u0001\uffff", "blob_hex": GOOD.hex(), "size": 32,
                                  "expect": {"validate": "INVALID_OPCODE", "instruction": 0}}))
    write("none.json", "{}")
    root = junit_any("conform", "bad.json", "none.json", "gone.json")
    kinds = [kind for _, _, kind in cases_of(root)]
    check(kinds.count("failure") == 1 and "error" in kinds, cases_of(root))


def test_device():
    check(cases_of(junit(0, "device", "run", RACE)) == [(RACE, "run", "passed")], "run")
    write("wrong.gpu", "$a = alloc 16\nsize $a == 17\n")
    check(cases_of(junit(1, "device", "run", "wrong.gpu")) == [("wrong.gpu", "run", "failure")], "a wrong script")
    call("device", "run", "wrong.gpu", "--trace", "t.jsonl")
    check(cases_of(junit(0, "device", "replay", "t.jsonl")) == [("t.jsonl", "replay", "passed")], "replay")
    check([kind for _, _, kind in cases_of(junit(4, "device", "run", "gone.gpu"))] == ["error"], "a script that is not there")


def test_seeds():
    root = junit(1, "device", "run", RACE, "--seeds", "5..9")
    check([name for _, name, _ in cases_of(root)] == [f"seed {n}" for n in range(5, 10)], cases_of(root))
    check(all(kind == "failure" for _, _, kind in cases_of(root)), cases_of(root))
    done = call("device", "run", RACE, "--seeds", "5..9", text=True)
    check(done.stdout.endswith("5 schedules, 5 with races, 0 failed; --seed 5 repeats the first\n"), done.stdout)
    found = [line for line in done.stdout.splitlines() if line.startswith("seed 5: 1 race: read/write")]
    once = call("device", "run", RACE, "--seed", "5", text=True)
    check(once.returncode == 1 and once.stdout.splitlines()[-1:] == found, once.stdout)
    document = json.loads(call("device", "run", RACE, "--seeds", "5..9", "--json").stdout)
    check((document["tried"], document["with_races"], document["first"], len(document["schedules"])) == (5, 5, 5, 5), document)
    write("ordered.gpu", ORDERED)
    done = call("device", "run", "ordered.gpu", "--seeds", "0..20", text=True)
    check(done.returncode == 0 and done.stdout == "21 schedules, 0 with races, 0 failed\n", done)
    write("wrong.gpu", ORDERED + "size $a == 17\n")
    check(len(cases_of(junit(1, "device", "run", "wrong.gpu", "--seeds", "1..3"))) == 3, "each schedule is a failed case")
    write("syntax.gpu", "alloc\n")
    check(len(cases_of(junit(1, "device", "run", "syntax.gpu", "--seeds", "1..3"))) == 1, "one schedule shows it")
    document = json.loads(call("device", "run", "syntax.gpu", "--seeds", "1..3", "--json").stdout)
    check(document["diagnostics"][0]["line"] == 1 and document["tried"] == 0, document)
    last = str(2**64 - 1)
    check(call("device", "run", "ordered.gpu", "--seeds", f"{last}..{last}").returncode == 0, "the last seed")


def test_seeds_that_are_refused():
    for options in (["--seeds", "9..5"], ["--seeds", "5"], ["--seeds", "..5"], ["--seeds", "a..b"], ["--seeds", "1..2", "--seed", "1"],
                    ["--seeds", "1..2", "--mode", "serial"], ["--seeds", "1..2", "--trace", "t"], ["--seed", "-1"]):
        done = call("device", "run", RACE, *options)
        check(done.returncode == 2 and done.stderr, (options, done))
    check(call("device", "replay", RACE, "--seed", "1").returncode == 2 and not os.path.exists("t"), "a trace has its schedule")


# ---- both: batch ----

def test_batch():
    write("text.txt", "no format\n")
    files = ["broken.kblob", "good.kblob", "text.txt"]
    done = call("batch", "validate", *files, "-o", "r.jsonl", "--sarif", "r.sarif", "--junit", "r.xml")
    check(done.returncode == 0, done)
    run, root = sarif_of(read("r.sarif")), junit_of(read("r.xml"))
    check(cases_of(root) == [("validate", "broken.kblob", "failure"), ("validate", "good.kblob", "passed"),
                             ("validate", "text.txt", "error")], cases_of(root))
    check([place(r)["artifactLocation"]["uri"] for r in run["results"]] == ["broken.kblob", "text.txt"], run)
    check(place(run["results"][0])["region"] == {"byteOffset": 16}, run)
    again = call("batch", "report", "r.jsonl", "--sarif", "again.sarif", "--junit", "again.xml")
    check(again.returncode == 0 and read("again.sarif") == read("r.sarif") and read("again.xml") == read("r.xml"), again)
    check(call("batch", "report", "r.jsonl", "-o", "page.html", "--junit", "-").stdout == read("r.xml"), "a page too")
    for k in (0, 1):
        check(call("batch", "validate", *files, "-o", "s.jsonl", "--shard", f"{k}/2").returncode == 0, "a shard")
    check(call("batch", "validate", *files, "-o", "s2.jsonl", "--shard", "0/2", "--sarif", "x").returncode == 2, "of a shard")
    check(call("batch", "merge", "s.jsonl", "--sarif", "merged.sarif").returncode == 0, "merge")
    check(read("merged.sarif") == read("r.sarif"), "merged shards")


# ---- what can go wrong ----

def test_standard_output_has_one_document():
    check(call("validate", "broken.kblob", "good.kblob", "--sarif", "-").stdout.startswith(b"{\"$schema\""), "no lines before")
    write("a.kasm", "HALT\n")
    for args in (["validate", "good.kblob", "--json"], ["asm", "a.kasm"], ["asm", "a.kasm", "-o", "-"], ["link", "good.kblob"]):
        done = call(*args, "--sarif", "-")
        check(done.returncode == 2 and b"standard output" in done.stderr + done.stdout, (args, done))
    check(call("batch", "validate", "good.kblob", "-o", "r", "--sarif", "-", "--junit", "-").returncode == 2, "both")
    sarif_of(call("asm", "a.kasm", "-o", "a.kblob", "--sarif", "-").stdout)
    junit_of(call("device", "run", RACE, "--junit", "-").stdout)


def test_what_they_must_not_overwrite():
    before = read("good.kblob")
    for args in (["validate", "good.kblob", "--sarif", "good.kblob"], ["validate", "--sarif", "good.kblob"],
                 ["validate", "--nothing", "x", "--sarif", "good.kblob"], ["validate", "good.kblob", "--sarif", f"{KEYS}/signer.pem"]):
        done = call(*args)
        check(done.returncode in (2, 4) and read("good.kblob") == before, (args, done))
    write("a.kasm", "HALT\n")
    check(call("asm", "a.kasm", "-o", "same", "--sarif", "same").returncode == 2 and not os.path.exists("same"), "one file twice")


def test_files_that_cannot_be_written():
    for target in ("/dev/full", "missing/folder/x"):
        for args in (["validate", "good.kblob", "--sarif"], ["device", "run", RACE, "--junit"]):
            done = call(*args, target)
            check(done.returncode == 4 and b"PENTA0004" in done.stderr, (args, done))
            document = json.loads(call(*args, target, "--json").stdout)
            check(document["exit"] == 4 and document["diagnostics"][0]["code"] == "PENTA0004", document)


# ---- the samples of examples/ci ----

def test_samples_for_ci():
    env = {**os.environ, "PENTA": PENTA, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    ci = os.path.join(ROOT, "examples", "ci")
    os.makedirs("job/programs/empty")
    write("job/programs/good.kblob", GOOD)
    write("job/programs/text.txt", "no program\n")
    work = {"cwd": "job", "env": env}
    check(run_program("sh", f"{ci}/check.sh", "programs", **work).returncode == 0, "good programs")
    check(cases_of(junit_of(read("job/penta.xml"))) == [("validate", "programs/good.kblob", "passed")], "the text is no case")
    write("job/programs/broken.kblob", BROKEN)
    check(run_program("sh", f"{ci}/check.sh", "programs", **work).returncode == 1, "a broken program")
    check(len(sarif_of(read("job/penta.sarif"))["results"]) == 1, "a finding")
    check(run_program("sh", f"{ci}/check.sh", "programs/empty", **work).returncode == 0, "no programs")
    git = lambda *words: run_program("git", *words, **work)
    if git("init", "-q").returncode:
        return
    shutil.copy(f"{ci}/pre-commit", "job/.git/hooks/pre-commit")
    git("add", "programs/good.kblob", "programs/text.txt")
    check(git("commit", "-qm", "good").returncode == 0, "a good commit")
    git("add", "programs/broken.kblob")
    done = git("commit", "-qm", "bad")
    check(done.returncode == 1 and b"KBLOB0009" in done.stderr, done)
    write("job/programs/broken.kblob", GOOD)  # what counts is what is staged
    check(git("commit", "-qm", "bad").returncode == 1, "the file in the folder is good, the staged one is not")
    write("job/programs/a.kasm", "WRIT\n")
    git("add", "programs/broken.kblob", "programs/a.kasm")
    check(git("commit", "-qm", "text").returncode == 1, "a text that does not assemble")


if __name__ == "__main__":
    sys.exit(main(globals(), prepare))

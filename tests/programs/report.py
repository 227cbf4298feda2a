#!/usr/bin/env python3
"""penta report, and that names with markup stay text in everything that penta writes for a browser.

    report.py PENTA                 the tests, without a browser
    report.py PENTA --pages FOLDER  only writes the pages that tests/programs/report/browse.js opens
"""
import base64
import hashlib
import json
import os
import re
import shutil
import sys

from support import call, check, exits, main, read, read_text, write

# No spaces, so that every assembler takes it, and as long as its stand-in for those that do not.
MARKUP = "<img/src=x/onerror=hacked=1>"
STAND_IN = "n" * len(MARKUP)
FILE = "<img src=x onerror=hacked=1>"  # a name of a file has no slash

SOURCES = {
    "coil": (".global main, %s\n.func %s\n    MUL v1, v1\n    RET\n.endfunc\n.func main\n    MOV v1, 3\n.again:\n    CALL @%s\n"
             "    DEC v1\n    CMP v1, 0\n    BR GT, @.again\n    RET\n.endfunc\n" % (3 * (STAND_IN,)), "casm", []),
    "pvm": ('%%isa = latest64\n%%export "%s" = @f\n%%export "<script>hacked=2</script>" = @g\n@f:\n    a0 = 3\n    fallthrough\n'
            "@next:\n    a0 = a0 - 1\n    jump @next if a0 != 0\n    ret\n@g:\n    ret\n" % MARKUP, "pvmasm", []),
    "cvbc": ('.string "%s"\n    PUSH 0\n    CALL f\n    HALT\nf:\n    RET\n.symbol "<script>", file, 0\n.symbol "%s", function, 3\n.line 0, 0, 1\n'
             % (MARKUP, MARKUP), "cvasm", []),
    "tvmr": (".meta\nname %s\n.registers\n    H0: i32[4]\n.program\n    call %s\n    halt\n%s:\n    load_input H0\n    return\n"
             % (3 * (MARKUP,)), "tasm", ["--metadata"]),
    "kblob": ("    loop r10, 3\n        ADD r6, r6, r10\n    endloop\n    HALT\n", "kasm", []),
}
RUN = {"pvm": ["--call", MARKUP], "tvmr": ["--input", "1,2,3,4"]}


def program(name):
    text, suffix, options = SOURCES[name]
    write("p." + suffix, text)
    path = f"{FILE}.{name}"
    exits(0, "asm", "p." + suffix, *options, "-o", path)
    if name == "coil":
        data = read(path)
        check(STAND_IN.encode() in data, "the name is not in the file")
        write(path, data.replace(STAND_IN.encode(), MARKUP.encode()))
    return path


def page(*args):
    exits(0, "report", *args, "-o", "page.html")
    return read_text("page.html")


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])


def nodes(node):
    for child in node.get("c", []):
        yield child
        yield from nodes(child)


def no_markup(text, what):
    for bad in ("<img", "hacked=2</script", "\"x onerror", "onerror=\""):
        check(bad not in text.lower(), f"{what}: has {bad}")


def pages(folder):
    """What penta writes for browsers, of a program of each format; returns name and text of each."""
    written = {}
    for name in SOURCES:
        path, options = program(name), ["--fuel", "1000", *RUN.get(name, [])]
        call("cover", path, *options, "--data", "counts", "--html", f"{folder}/{name}_cover.html")
        folded = call("profile", path, *options, "--folded").stdout
        write("folded", folded)
        call("profile", path, *options, "--flamegraph", f"{folder}/{name}_flame.svg")
        exits(0, "report", path, "--cover", "counts", "--profile", "folded", "-o", f"{folder}/{name}.html")
        if shutil.which("dot"):
            exits(0, "graph", path, "--calls", "--svg", f"{folder}/{name}_calls.svg")
            exits(0, "graph", path, "--cfg", "4096" if name == "coil" else "0", "--svg",
                  f"{folder}/{name}_blocks.svg")
        for part in (f"{name}.html", f"{name}_cover.html", f"{name}_flame.svg"):
            check(os.path.exists(f"{folder}/{part}"), f"{part} was not written")
        os.remove("counts")
        os.remove("folded")
    with open(f"{FILE}.coil", "rb") as file:
        write("cut.coil", "")
        open("cut.coil", "wb").write(file.read()[:150])
    exits(0, "report", "cut.coil", "-o", f"{folder}/cut.html")
    for name in sorted(os.listdir(folder)):
        written[name] = read_text(os.path.join(folder, name))
    return written


def test_names_stay_text():
    os.mkdir("out")
    for name, text in pages("out").items():
        no_markup(text, name)
        if name.endswith(".svg"):
            check("<svg" in text and "</svg>" in text, f"{name} is no picture")
            check("hacked" in text or name.startswith("kblob") or "blocks" in name, f"{name}: the name is missing")
        elif '<script type="application/json"' in text and not name.startswith("cut"):
            data = json.dumps(data_of(text))
            check((FILE if name.startswith("kblob") else MARKUP) in data, f"{name}: the name is missing")


def test_every_view_has_data():
    os.mkdir("out")
    for name, text in pages("out").items():
        if not re.fullmatch(r"[a-z]+\.html", name) or name == "cut.html":
            continue
        data = data_of(text)
        code = data["code"]
        rows = len(code["pc"])
        check(data["format"] == name[:-5] and data["size"] and data["info"] and data["tree"]["c"], name)
        check(rows and rows == len(code["text"]) == len(code["offset"]) == len(code["counts"]), name)
        check(min(code["offset"]) > 0 and code["offset"] == sorted(set(code["offset"])), f"{name}: {code['offset']}")
        insns = [leaf["o"] for leaf in nodes(data["tree"]) if leaf["n"].startswith("insn")]
        check(not insns or insns == code["offset"], f"{name}: instructions are at {insns}, not at {code['offset']}")
        check(code["functions"] and data["coverage"]["functions"] and data["folded"], name)
        check(len(base64.b64decode(data["bytes"])) == data["size"], f"{name}: bytes")
        check(hashlib.sha256(base64.b64decode(data["bytes"])).hexdigest() == data["sha256"], f"{name}: digest")
        check(data["leftOut"] == [], f"{name}: {data['leftOut']}")
        check(sum(node["s"] for node in data["tree"]["c"] if not node.get("d")) == data["size"], f"{name}: tree")
        if name != "tvmr.html" and name != "cvbc.html":
            check(code["arrows"], f"{name}: no arrows")


def test_only_its_own_script_runs():
    html = page(program("coil"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    check(policy.startswith("default-src 'none';") and "unsafe" not in policy, policy)
    scripts = re.findall(r"<script>(.*?)</script>", html, re.S)
    styles = re.findall(r"<style>(.*?)</style>", html, re.S)
    check(len(scripts) == len(styles) == 1, "one script, one style sheet")
    for part in scripts + styles:
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        check(f"'sha256-{digest}'" in policy, "the policy is not about this page")
    links = set(re.findall(r"https?://[^\"' )]*", html)) - {"http://www.w3.org/2000/svg"}
    check(not links, links)
    check(not re.search(r"\bon\w+=\"|innerHTML|eval\(|document\.write", html), "markup from text")


def test_long_files_say_what_is_left_out():
    write("long.casm", ".global main\n.func main\n" + "    INC v1\n" * 1500 + "    RET\n.endfunc\n")
    exits(0, "asm", "long.casm", "-o", "long.coil")
    short, whole = data_of(page("long.coil")), data_of(page("long.coil", "--all"))
    text = next(node for node in short["tree"]["c"] if node["n"] == ".text")
    check(len(text["c"]) == 1000 and text["l"] == 501 and text["lo"] + text["ls"] == text["o"] + text["s"], text["l"])
    check(len(short["leftOut"]) == 1 and "501" in short["leftOut"][0], short["leftOut"])
    text = next(node for node in whole["tree"]["c"] if node["n"] == ".text")
    check(len(text["c"]) == 1501 and "l" not in text and whole["leftOut"] == [], "--all")
    check(len(short["code"]["pc"]) == 1501, "instructions")


def test_broken_files():
    path = program("coil")
    whole = read(path)
    for size in (90, 150, len(whole) - 1):
        write("cut", whole[:size])
        data = data_of(page("cut", "--format", "coil"))
        check(data["damage"] and "code" not in data, f"{size} bytes: {data.get('damage')}")
        check(any(f["severity"] == "error" for f in data["findings"]), f"{size} bytes: no finding")
        check(data["findings"][0]["explanation"] and "offset" in data["findings"][0], data["findings"])
        done = call("size", "cut", "--format", "coil")
        check(done.returncode == 5 or done.returncode == 1, f"size of a cut file exits with {done.returncode}")
        check(b"section" in done.stdout and b"error" in done.stderr, done.stderr)
    write("empty", "")
    check(b"the file is empty" in exits(3, "report", "empty", "-o", "x.html").stderr, "an empty file")
    check(b"nowhere" in exits(4, "report", "nowhere", "-o", "x.html").stderr, "no file")
    check(not os.path.exists("x.html"), "a page was written")


def test_counts_and_paths_that_are_not():
    path = program("coil")
    write("wrong", "main;f twelve\n")
    done = exits(1, "report", path, "--profile", "wrong", "-o", "x.html")
    check(b"not a line of a call path" in done.stderr and b"wrong" in done.stderr, done.stderr)
    check(b"not counts of this program" in call("report", path, "--cover", "wrong", "-o", "x.html").stderr, "--cover")
    exits(4, "report", path, "--cover", "nothing", "-o", "x.html")
    check(not os.path.exists("x.html"), "a page was written")
    exits(0, "cover", path, "--data", "a")
    exits(0, "cover", path, "--data", "b")
    one = data_of(page(path, "--cover", "a"))["code"]["counts"]
    two = data_of(page(path, "--cover", "a,b"))["code"]["counts"]
    check([2 * count for count in one] == two and any(one), "counts add up")


def test_source_lines():
    write("sum.casm", ".global main\n.func main\n    MOV v1, 3\n    INC v1\n\n    RET\n.endfunc\n")
    exits(0, "asm", "sum.casm", "-g", "-o", "sum.coil")
    check(data_of(page("sum.coil"))["code"]["lines"] == [[0, 3, "sum.casm"], [1, 4], [2, 6]], "lines")


def test_document():
    path = program("kblob")
    document = json.loads(exits(0, "report", path, "--json").stdout)
    check(document["format"] == "kblob" and document["text"].startswith("<!DOCTYPE html>"), document.keys())
    check(exits(0, "report", path).stdout.decode() == document["text"], "standard output")
    check(b"<title>kblob</title>" in exits(0, "report", "-", data=read(path)).stdout, "standard input")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[2] == "--pages":
        pages(os.path.abspath(sys.argv[3]))
        sys.exit(0)
    sys.exit(main(dict(globals())))

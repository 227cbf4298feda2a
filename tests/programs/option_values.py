#!/usr/bin/env python3
"""Every option of every command refuses values that are not of its kind, before any file is read, and says what fits. The
options come from the tables, by `penta help COMMAND --json`."""
import json
import re
import sys

from support import call, check, exits, main

KINDS = {"switch", "words", "number", "real", "size", "hex", "file", "output", "folder", "text", "form"}


def bounds(option):
    return int(option["least"]), int(option["most"])


def bad_numbers(option):
    least, most = bounds(option)
    yield from ("x", "", "1x", "0x", "_1", "1.5")
    yield str(least - 1)
    yield str(most + 1)
    yield str(2**64)


def one_slip(word):
    """The word with its last two letters swapped, which is the commonest slip; None: that is no other word."""
    slip = word[:-2] + word[-1] + word[-2] if len(word) > 3 else word
    return slip if slip != word else None


def bad_values(option):
    kind, words = option["kind"], option["words"][0]
    if kind == "switch":
        yield from ("1", "x", "")
    elif kind == "words" and words:
        yield from ("none-of-these", "", words[0] + "x", " " + words[0])
    elif kind == "number":
        yield from bad_numbers(option)
        if option["items"] != 1:
            yield from ("1,,2", "1,", ",", "1,x")
        if isinstance(option["items"], int) and option["items"] > 1:
            yield "1," * option["items"] + "1"
    elif kind == "size":
        yield from bad_numbers(option)
        yield from ("K", "1T", "1KK", "17179869184G")
    elif kind == "real":
        yield from ("x", "", "nan", "inf", "1s", " 1", str(option["least"] - 1), str(option["most"] * 10))
    elif kind == "hex":
        least, most = bounds(option)
        yield from ("0", "zz", "0x0", "00 0")
        if least:
            yield "00" * (least - 1)
        if most < 1000:
            yield "00" * (most + 1)
    elif kind in ("file", "output", "folder"):
        yield ""
        if option["items"] != 1:
            yield "a,,b"
    elif kind == "text" and option["items"] != 1:
        yield from ("a,,b", ",")
    elif kind == "form":
        yield from (":", "=", "::::", "-", "/")


def said(command, option, value):
    """What the tool says about the value. No file exists; formats that share a name are told apart by --format."""
    given = f"--{option['name']}={value}"
    chosen = ["--format", option["formats"].split()[0]] if option["formats"] and option["shared"] else []
    for words in ([], ["missing"], ["missing", "missing"], ["run", "missing"]):
        done = call(command, *words, given, *chosen)
        if b"too many arguments" not in done.stderr and b" needs " not in done.stderr:
            return done
    return done


def refused(command, option, value):
    done = said(command, option, value)
    name = f"option '--{option['name']}'"
    if option["kind"] == "switch":
        wanted = f"{name} takes no value"
    elif option["kind"] == "words":
        wanted = f"{name}: '{value}' is none of {option['words'][0][0]}"
    else:
        shown = value[:40]
        wanted = f"{name}: '{shown}' is not {option['accepts']}"
    text = done.stderr.decode()
    known = wanted in text or (option["kind"] == "form" and f"{name}: '" in text and "is none of" in text)
    check(done.returncode == 2 and known, f"penta {command} --{option['name']}={value!r}: exit {done.returncode}, not {wanted!r}\n{text}")


def options_of(command):
    rows = json.loads(exits(0, "help", command, "--json").stdout)["options"]
    names = [row["name"] for row in rows]
    for row in rows:
        row.setdefault("formats", None)
        row["shared"] = names.count(row["name"]) > 1
    return rows


def test_every_option_of_every_command():
    kinds, seen = set(), set()
    for command in re.findall(r"^  ([a-z]+) ", exits(0, "help").stdout.decode(), re.M):
        for option in options_of(command):
            key = (option["name"], option["formats"], option["kind"], command in ("asm", "run"))
            kinds.add(option["kind"])
            values = [value for value in bad_values(option) if value or option["items"] != "any"]
            # One bad value everywhere, since the commands differ; all of them once.
            for value in values if key not in seen else values[:1]:
                refused(command, option, value)
            seen.add(key)
    check(kinds == KINDS, f"kinds without an option: {KINDS - kinds}")


def test_suggestions():
    """A slip in a word is answered by the word."""
    found = 0
    for command in ("run", "convert", "profile", "jit"):
        for option in options_of(command):
            for word in option["words"][0] if option["kind"] == "words" else []:
                slip = one_slip(word)
                if not slip or slip in option["words"][0]:
                    continue
                text = said(command, option, slip).stderr.decode()
                check(f"did you mean '" in text, f"penta {command} --{option['name']}={slip}\n{text}")
                found += 1
    check(found > 20, f"{found} words")


def test_words_without_case():
    for option in options_of("run"):
        if option["kind"] == "words" and option["words"][0]:
            text = said("run", option, option["words"][0][-1].upper()).stderr.decode()
            check("is none of" not in text and "missing" in text, text)


if __name__ == "__main__":
    sys.exit(main(globals()))

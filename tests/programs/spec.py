#!/usr/bin/env python3
"""Descriptions of formats for other tools: they have what the tables of the sources have, and name only what they define.

    tests/programs/spec.py PENTA

Whether Kaitai Struct reads files with them as penta does is tests/programs/kaitai/run.
"""
import glob
import json
import os
import re
import sys

from support import ROOT, check, exits, main, read_text

FORMATS = ("kblob", "pvm", "cvbc", "tvmr", "coil")
FORMS = ("json", "ksy", "hexpat", "markdown")


def spec(format, form="json"):
    return exits(0, "formats", format, "--spec", form).stdout.decode()


def rows(path, macro):
    return re.findall(rf"^ *{macro}\(\s*(\w+)(?:, *(\w+))?(?:, *(\w+))?", read_text(f"{ROOT}/src/formats/{path}"), re.M)


def test_json_has_every_row_of_the_tables():
    for name in FORMATS:
        document = json.loads(spec(name))
        check(document["schema"] == "penta.spec/1" and document["format"] == name, name)
        if os.path.exists(f"{ROOT}/src/formats/{name}/layout.def"):
            records = {record["name"]: record for record in document["records"]}
            check(list(records) == [row[0] for row in rows(f"{name}/layout.def", "RECORD")], (name, list(records)))
            fields = [(record, field["name"]) for record in records for field in records[record]["fields"]]
            check(fields == [(row[0], row[2]) for row in rows(f"{name}/layout.def", "(?:FIELD|BYTES)")], (name, fields))
            for record in records.values():
                end = record["fields"][-1]["offset"] + record["fields"][-1]["size"]
                check(record["size"] == end, (name, record["name"]))
        else:
            check(document["records"] == [], name)
        check([one["name"] for one in document["structures"]] == [row[0] for row in rows(f"{name}/parts.def", "STRUCT")], name)
        explained = json.loads(exits(0, "explain", "--json").stdout)["rules"]
        codes = [rule["code"] for rule in explained if re.fullmatch(rf"{name.upper()}\d+", rule["code"])]
        check([rule["code"] for rule in document["rules"]] == codes != [], name)
        listed = json.loads(exits(0, "formats", name, "--instructions", "--json").stdout)["formats"][0]
        check(document["instructions"] == listed["instructions"] and listed["instructions"], name)
        check(document["traps"] == listed["traps"] != [], name)
        check([option["key"] for option in document["options"]] == listed["options"], name)


def test_every_type_is_defined_before_it_is_used():
    """Patterns for ImHex: types, in the order of the file; Kaitai: types anywhere."""
    for name in FORMATS:
        text = re.sub(r"//.*", "", spec(name, "hexpat"))
        known = set()
        for line in text.splitlines():
            defined = re.match(r"struct (\w+) \{", line)
            for used in re.findall(r"\b(\w+_t)\b", line[6:] if defined else line):
                check(used in known or defined and used == defined[1], f"{name}: {used} before its definition")
            if defined:
                check(defined[1] not in known, f"{name}: {defined[1]} twice")
                known.add(defined[1])
        check(text.count("{") == text.count("}") and known, name)
        ksy = spec(name, "ksy")
        types = set(re.findall(r"^  (\w+):$", ksy.split("\ntypes:\n")[1], re.M))
        for used in re.findall(r"^ +type: (\w+)$", ksy, re.M):
            check(used in types or re.fullmatch(r"[us][1248]", used), f"{name}: no type {used}")
        names = re.findall(r"- id: (\S+)", ksy)
        check(names and all(re.fullmatch(r"[a-z][a-z0-9_]*", one) for one in names), f"{name}: {names}")


def test_markdown_has_tables_of_equal_rows():
    for name in FORMATS:
        text = spec(name, "markdown")
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
            columns = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            check(len(columns) == 1, (name, columns, block[:300]))
        for title in ("## How a file is made", "## Instructions", "## Traps", "## Rules", "## Options"):
            check(title in text, (name, title))


def test_what_cannot_be_described_says_so():
    check(b"one format" in exits(2, "formats", "--spec", "json").stderr, "no format")
    check(b"one format" in exits(2, "formats", "kblob", "pvm", "--spec", "json").stderr, "two formats")
    check(b"json, ksy" in exits(2, "formats", "kblob", "--spec", "yaml").stderr, "an unknown form")
    check(b"not known as a table" in exits(2, "formats", "cvbc-legacy", "--spec", "ksy").stderr, "no parts")
    check(json.loads(spec("cvbc-legacy"))["structures"] == [], "no parts in JSON")
    document = json.loads(exits(0, "formats", "coil", "--spec", "ksy", "--json").stdout)
    check(document["text"] == spec("coil", "ksy"), "the member of a document")


def test_explain_all():
    text = exits(0, "explain", "--all").stdout.decode()
    rules = json.loads(exits(0, "explain", "--json").stdout)["rules"]
    check(len(rules) > 200, len(rules))
    for rule in rules:
        check(f"{rule['code']} {rule['name']} ({rule['severity']}): {rule['summary']}\n\n{rule['explanation']}\n" in text, rule["code"])
    check(exits(0, "explain", "KBLOB0009").stdout.decode() in text, "as one alone")


def test_structures_stand_in_a_table_of_their_own():
    found = {path.split(os.sep)[-2] for path in glob.glob(f"{ROOT}/src/formats/*/parts.def")}
    check(found == set(FORMATS), found)


if __name__ == "__main__":
    sys.exit(main(globals()))

"""Reads the C headers of the library: constants, structs, callbacks and functions.

The headers are the only list of what the library offers; ctypes types are made from what is read here. It
understands the C that public headers of penta are written in, and no more.

A type is a tuple: ("name", NAME), ("pointer", TYPE), ("array", TYPE, COUNT), ("function", RESULT, TYPES),
("struct", FIELDS) or ("union", FIELDS) with FIELDS as pairs of name and type.
"""
from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterable, List, Optional, Tuple

Type = Tuple[Any, ...]
Fields = List[Tuple[str, Type]]

_TOKEN = re.compile(r'0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|<<|"[^"]*"|\S')
_SKIPPED = {"const", "volatile", "enum", "PENTA_API", "GPU_API", "CVBC_API", "CVBC_PACKED", "extern"}


class Declarations:
    """What headers declare, by name."""

    def __init__(self) -> None:
        self.constants: Dict[str, int] = {}
        self.lists: Dict[str, List[int]] = {}    # numbers in braces
        self.enums: Dict[str, List[str]] = {}    # a typedef of an enum, and its constants in order
        self.types: Dict[str, Type] = {}         # typedefs; a struct without fields is opaque
        self.functions: Dict[str, Type] = {}


def folder() -> str:
    """Of the headers: in the package, or in the tree that this file is in."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in (here, *(os.path.join(here, *[".."] * n) for n in range(1, 5))):
        if os.path.exists(os.path.join(place, "include", "penta", "penta.h")):
            return os.path.join(place, "include")
    raise ImportError("the headers of libpenta are neither in the package nor in the tree around it")


def read(names: Iterable[str]) -> Declarations:
    found = Declarations()
    for name in names:
        with open(os.path.join(folder(), name), encoding="utf-8") as file:
            _Parser(file.read(), found).run()
    return found


class _Parser:
    def __init__(self, text: str, found: Declarations) -> None:
        self.found = found
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
        text = re.sub(r"^\s*#\s*ifdef\s+__cplusplus.*?^\s*#\s*(?:else|endif).*?$", "", text, flags=re.S | re.M)
        for name, value in re.findall(r"^\s*#\s*define\s+(\w+)[ \t]+(\S.*?)\s*$", text, re.M):
            if value.startswith("{"):
                found.lists[name] = [int(one) for one in re.findall(r"-?\d+", value)]
                continue
            number = self.evaluate(_TOKEN.findall(value))
            if number is not None:
                found.constants[name] = number
        self.tokens: List[str] = _TOKEN.findall(re.sub(r"^\s*#.*$", "", text, flags=re.M))
        self.at = 0

    def evaluate(self, tokens: List[str]) -> Optional[int]:
        """An integer constant: numbers, names of constants, and a few operators."""
        words = []
        for token in tokens:
            if re.match(r"0[xX]|\d", token):
                words.append(str(int(re.sub(r"[uUlL]+$", "", token), 0)))
            elif token in self.found.constants:
                words.append(str(self.found.constants[token]))
            elif token in ("+", "-", "*", "|", "<<", "(", ")"):
                words.append(token)
            else:
                return None
        try:
            return int(eval(" ".join(words), {"__builtins__": {}}))
        except (SyntaxError, TypeError):
            return None

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def until(self, *ends: str) -> List[str]:
        """The tokens up to one of these, outside of brackets."""
        start, depth = self.at, 0
        while depth or self.peek() not in ends:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self.peek(), 0)
            self.at += 1
        return self.tokens[start:self.at]

    def run(self) -> None:
        while self.peek():
            word = self.peek()
            if word == "typedef":
                self.next()
                self.typedef()
            elif word == "enum":
                self.next()
                self.enumerators()
                self.take(";")
            elif word in ("PENTA_API", "GPU_API", "CVBC_API"):
                name, type_ = self.declaration()[0]
                self.found.functions[name] = type_
            else:
                self.until(";", "")
                self.take(";")

    def enumerators(self) -> List[str]:
        names: List[str] = []
        value = -1
        if not self.take("{"):
            self.next()
            if not self.take("{"):
                return names
        while not self.take("}"):
            name = self.next()
            given = self.evaluate(self.until(",", "}")[1:]) if self.peek() == "=" else None
            value = value + 1 if given is None else given
            self.found.constants[name] = value
            names.append(name)
            self.take(",")
        return names

    def typedef(self) -> None:
        if self.peek() == "enum":
            self.next()
            names = self.enumerators()
            self.found.enums[self.next()] = names
            self.take(";")
            return
        for name, type_ in self.declaration():
            if type_ == ("struct", None):
                self.found.types.setdefault(name, type_)
            else:
                self.found.types[name] = type_

    def declaration(self) -> Fields:
        """BASE DECLARATOR, DECLARATOR ... ;"""
        base = self.base()
        out = [self.declarator(base)]
        while self.take(","):
            out.append(self.declarator(base))
        self.take(";")
        return out

    def base(self) -> Type:
        while self.peek() in _SKIPPED:
            self.next()
        word = self.next()
        if word in ("struct", "union"):
            while self.peek() in _SKIPPED:
                self.next()
            tag = "" if self.peek() == "{" else self.next()
            fields: Optional[Fields] = None
            if self.take("{"):
                fields = []
                while not self.take("}"):
                    fields += self.declaration()
            elif self.peek() != tag:
                return ("name", tag)
            return (word, fields)
        while self.peek() in ("const", "int", "long"):
            self.next()
        return ("name", word)

    def declarator(self, type_: Type) -> Tuple[str, Type]:
        while self.peek() in ("*", "const"):
            if self.next() == "*":
                type_ = ("pointer", type_)
        name = ""
        if self.peek() == "(" and self.tokens[self.at + 1] == "*":  # a pointer to a function
            self.at += 2
            name = self.next()
            self.next()
            return name, ("pointer", self.function(type_))
        if re.match(r"[A-Za-z_]", self.peek()):
            name = self.next()
        if self.peek() == "(":
            return name, self.function(type_)
        counts = []
        while self.take("["):
            counts.append(self.evaluate(self.until("]")) or 0)
            self.next()
        for count in reversed(counts):
            type_ = ("array", type_, count)
        return name, type_

    def function(self, result: Type) -> Type:
        arguments = []
        self.next()
        while not self.take(")"):
            _, type_ = self.declarator(self.base())
            if type_ != ("name", "void"):
                arguments.append(("pointer", type_[1]) if type_[0] == "array" else type_)
            self.take(",")
        return ("function", result, arguments)

"""Changes of a C file, one at a time: an operator, a constant, a condition or a statement.

The file is read as tokens. The sources are kept in shape by clang-format, so that a binary operator is one
with a space on both sides. What the preprocessor reads and what stands in assert is left alone. A change
that does not compile is no change: whoever builds it finds out."""
import re
from collections import namedtuple

# At offset `start` of the text, `old` becomes `new`.
Change = namedtuple("Change", "line column start kind old new")

TOKEN = re.compile(r"""
    (?P<space>\s+ | /\*.*?\*/ | //[^\n]*)
  | (?P<text>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]* | [0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?[uUlLfF]*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|.)
""", re.X | re.S)

BINARY = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|",
    "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "%=": "/=", "<<=": ">>=", ">>=": "<<=", "&=": "|=",
    "|=": "&=", "^=": "|=",
}
STEP = {"++": "--", "--": "++"}
WORD = {"true": "false", "false": "true"}
QUIET = {"assert", "static_assert", "_Static_assert", "__attribute__", "sizeof"}
NOT_CALLS = {"if", "while", "for", "switch", "return", "else", "do", "case", "default", "goto", "sizeof",
             "break", "continue", "typedef", "static", "const", "extern", "struct", "enum", "union"}


class Token:
    __slots__ = ("kind", "text", "start", "end")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


def tokens_of(text):
    # Lines of the preprocessor become spaces, with those that they continue in.
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M | re.S)
    return [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text) if m.lastgroup != "space"]


def closing_of(tokens):
    """For the index of each opening bracket, that of its closing one."""
    found, stack = {}, []
    for i, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in "([{":
            stack.append(i)
        elif token.text in ")]}" and stack:
            found[stack.pop()] = i
    return found


def number_after(text):
    """The constant after this one, in the same notation; None for one that is not whole."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", text)
    if not match:
        return None
    digits, suffix = match.groups()
    if digits.lower().startswith("0x"):
        return f"{int(digits, 16) + 1:#x}{suffix}"
    if len(digits) > 1 and digits[0] == "0":
        return None
    return f"{int(digits) + 1}{suffix}"


def statement_end(tokens, closing, first):
    """The index of the semicolon of a statement that calls or assigns, beginning at a name; None if it is none."""
    if tokens[first].text in NOT_CALLS or first + 1 >= len(tokens):
        return None
    if tokens[first + 1].kind in ("name", "text") or tokens[first + 1].text in (":", "*"):
        return None  # a declaration, a label
    i, acts = first, False
    while i < len(tokens) and tokens[i].text != ";":
        acts = acts or tokens[i].text in ("(", "++", "--") or tokens[i].text.endswith("=") and tokens[i].kind == "sign"
        if tokens[i].text in ("{", "}", ")", "]"):
            return None
        i = closing.get(i, i) + 1
    return i if acts and i < len(tokens) else None


def changes_of(text):
    """Every change of a file, in the order of the text."""
    tokens, found = tokens_of(text), []
    closing = closing_of(tokens)
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    quiet_until, depth, line = -1, 0, 0

    def add(start, kind, old, new):
        found.append(Change(line, start - starts[line - 1] + 1, start, kind, old, new))

    for i, token in enumerate(tokens):
        while line < len(starts) and starts[line] <= token.start:
            line += 1
        depth += (token.text == "{") - (token.text == "}")
        if i <= quiet_until:
            continue
        before = tokens[i - 1].text if i else ""
        if token.text in QUIET and i + 1 in closing:
            quiet_until = closing[i + 1]
        elif token.kind == "number":
            if number_after(token.text):
                add(token.start, "constant", token.text, number_after(token.text))
        elif token.text in WORD:
            add(token.start, "constant", token.text, WORD[token.text])
        elif token.kind == "sign":
            spaced = text[token.start - 1 : token.start].isspace() and text[token.end : token.end + 1].isspace()
            if token.text in BINARY and spaced:
                add(token.start, "operator", token.text, BINARY[token.text])
            elif token.text in STEP:
                add(token.start, "operator", token.text, STEP[token.text])
            elif token.text == "!":
                add(token.start, "operator", "!", "")
        elif token.text in ("if", "while") and i + 1 in closing and depth:
            opened, closed = tokens[i + 1], tokens[closing[i + 1]]
            condition = text[opened.start : closed.end]
            add(opened.start, "condition", condition, f"(!{condition})")
        if depth and before in (";", "{", "}", ")", "else", ":") and token.kind == "name":
            if token.text in ("break", "continue") and tokens[i + 1].text == ";":
                add(token.start, "statement", token.text, "")
            else:
                end = statement_end(tokens, closing, i)
                if end is not None:
                    add(token.start, "statement", text[token.start : tokens[end].start], "")
    return found


def changed(text, change):
    assert text.startswith(change.old, change.start)
    return text[: change.start] + change.new + text[change.start + len(change.old) :]

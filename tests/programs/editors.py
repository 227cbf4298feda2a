#!/usr/bin/env python3
"""Vim, Neovim and VS Code with what is in editors/: colours, file types, lists of errors, the entry for nvim-dap, the packed
extension and its tasks.

    tests/programs/editors.py PENTA

That the files are those of the tables is the test `grammars`, for which no editor is needed.
"""
import json
import os
import re
import shutil
import sys
import zipfile

from support import PENTA, ROOT, Skipped, check, exits, has_command, main, run_program, write

# A source of each format, with an instruction at the end that does not exist; pieces of it, and the token that each is.
SOURCES = {
    "kblob": (".kasm", "again: WRITE64 0x10000, 1 ; note\n    mov r1, r2\n    NONSENSE\n", ";",
              {"again": "Label", "WRITE64": "Mnemonic", "0x10000": "Numeric", "; note": "Line", "mov": "Mnemonic", "r1": "Register"}),
    "pvm": (".pvmasm", "%isa = latest64 // note\n@go:\n    a0 = a0 + 7\n    jump @go if a0 <u 40\n    nonsense\n", "//",
            {"%isa": "Directive", "// note": "Line", "@go:": "Label", "a0": "Register", "7": "Numeric", "jump": "Mnemonic", "@go if": "Function"}),
    "cvbc": (".cvasm", "start:\n    PUSH 3 ; note\n    HALT\n    NONSENSE\n", ";",
             {"start": "Label", "PUSH": "Mnemonic", "3": "Numeric", "; note": "Line"}),
    "tvmr": (".tasm", ".registers\n    H0: i32[4]\n.program\n    load_input H0 ; note\n    halt\n    nonsense H0\n", ";",
             {".registers": "Directive", "load_input": "Mnemonic", "; note": "Line", "halt": "Mnemonic"}),
    "coil": (".casm", ".global main\n.func main\n    MOV v0, i64 5 ; note\n    RET\n    NONSENSE\n.endfunc\n", ";",
             {".func": "Directive", "MOV": "Mnemonic", "v0": "Register", "; note": "Line", "RET": "Mnemonic"}),
}
# Writes what the editor knows of the file, and what its list of errors has after :make, to the file `said`.
PROBE = """
let s:said = {'filetype': &filetype, 'commentstring': &commentstring, 'names': {}}
for s:piece in json_decode(join(readfile('pieces')))
  let s:place = searchpos('\\V' . escape(s:piece, '\\'), 'nw')
  let s:said.names[s:piece] = synIDattr(synID(s:place[0], s:place[1], 1), 'name')
endfor
silent! make!
let s:said.errors = filter(getqflist(), 'v:val.valid')
for s:error in s:said.errors
  let s:error.file = bufname(s:error.bufnr)
endfor
call writefile([json_encode(s:said)], 'said')
qall!
"""


def edit(editor, format):
    suffix, text, comment, pieces = SOURCES[format]
    write("t" + suffix, text)
    write("pieces", json.dumps(list(pieces)))
    write("probe.vim", PROBE)
    write("rc.vim", f"set nocompatible\nset runtimepath^={ROOT}/editors/vim\nlet g:penta_path = '{PENTA}'\n"
                    "filetype plugin on\nsyntax on\n")
    quiet = ["-es", "-i", "NONE", "-n"] if editor == "vim" else ["--headless", "-i", "NONE", "-n"]
    done = run_program(editor, *quiet, "-u", "rc.vim", "t" + suffix, "-c", "source probe.vim")
    check(os.path.exists("said"), (editor, format, done))
    with open("said", encoding="utf-8") as file:
        said = json.load(file)
    os.remove("said")
    check(said["filetype"] == f"penta_{format}", said)
    check(said["commentstring"] == comment + " %s", said)
    for piece, token in pieces.items():
        check(said["names"][piece].endswith(token), (editor, format, piece, said["names"][piece]))
    wrong = next(i for i, line in enumerate(text.splitlines(), 1) if "nonsense" in line.lower())
    errors = [(one["file"], one["lnum"], one["type"].lower()) for one in said["errors"]]
    check(("t" + suffix, wrong, "e") in errors, (editor, format, said["errors"]))


def test_vim():
    if not has_command("vim") or b"+syntax" not in run_program("vim", "--version").stdout:
        raise Skipped("no vim with colours")
    for format in SOURCES:
        edit("vim", format)


def test_neovim():
    if not has_command("nvim"):
        raise Skipped("no nvim")
    for format in SOURCES:
        edit("nvim", format)


def test_neovim_debugger():
    """The entry for nvim-dap, of which a table stands in its place, starts an adapter that answers."""
    if not has_command("nvim"):
        raise Skipped("no nvim")
    write("t.kasm", "    HALT\n")
    exits(0, "asm", "t.kasm", "-o", "t.kblob")
    write("entry.lua", """
local dap = { adapters = {}, configurations = {} }
package.loaded.dap = dap
require("penta_dap").setup({ path = vim.env.PENTA })
local said = { filetypes = vim.tbl_keys(dap.configurations) }
dap.adapters.penta(function(adapter) said.adapter = adapter end, {})
dap.adapters.penta(function(adapter) said.server = adapter end, { port = 4711 })
said.first = dap.configurations.penta_kblob[1].request
local body = vim.fn.json_encode({ seq = 1, type = "request", command = "initialize", arguments = { adapterID = "penta" } })
said.answer = vim.fn.system({ said.adapter.command, unpack(said.adapter.args) }, "Content-Length: " .. #body .. "\\r\\n\\r\\n" .. body)
vim.fn.writefile({ vim.fn.json_encode(said) }, "said")
vim.cmd("qall!")
""")
    done = run_program("nvim", "--headless", "-i", "NONE", "-n", "-u", "NONE", "--cmd", f"set runtimepath^={ROOT}/editors/vim",
                       "-c", "luafile entry.lua", env={**os.environ, "PENTA": PENTA})
    check(os.path.exists("said"), done)
    with open("said", encoding="utf-8") as file:
        said = json.load(file)
    check(sorted(said["filetypes"]) == sorted(f"penta_{format}" for format in SOURCES), said)
    check(said["adapter"]["command"] == PENTA and said["server"]["port"] == 4711 and said["first"] == "launch", said)
    check("supportsStepBack" in said["answer"], said["answer"])


# The parts of the editor that the extension uses, and what it makes of the file in the editor.
EXTENSION = """
const Module = require("module");
let provider;
const vscode = {
    workspace: { getConfiguration: () => ({ get: () => "" }), getWorkspaceFolder: () => "folder", asRelativePath: (uri) => uri },
    window: { activeTextEditor: { document: { uri: "src/kernel.kasm", fileName: "kernel.kasm", languageId: "penta-kblob" } } },
    debug: { registerDebugAdapterDescriptorFactory: () => 0, registerDebugConfigurationProvider: () => 0 },
    tasks: { registerTaskProvider: (type, one) => { provider = one; return 0; } },
    Task: class { constructor(definition, scope, name, source, execution, matchers) { Object.assign(this, { definition, scope, name, execution, matchers }); } },
    ShellExecution: class { constructor(command, args) { Object.assign(this, { command, args }); } },
    TaskScope: { Workspace: 2 },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
require(process.argv[2]).activate({ subscriptions: [] });
const made = provider.provideTasks();
made.push(provider.resolveTask({ definition: { type: "penta", command: "dis", file: "a.coil", args: ["--arrows"] } }));
console.log(JSON.stringify(made));
"""


def test_vscode_packs_without_warnings():
    done = run_program(f"{ROOT}/scripts/vscode", os.path.abspath("penta.vsix"), text=True)
    if done.returncode == 77:
        raise Skipped("no vsce")
    check(done.returncode == 0 and "WARN" not in done.stdout + done.stderr and "ERROR" not in done.stdout + done.stderr, done)
    with zipfile.ZipFile("penta.vsix") as packed:
        names = packed.namelist()
        check("extension/extension.js" in names and "extension/LICENSE.txt" in names, names)
        check(sum(name.endswith(".tmLanguage.json") for name in names) == len(SOURCES), names)
        packed.extractall("packed")
    if not shutil.which("node"):
        return
    write("tasks.js", EXTENSION)
    done = run_program("node", "tasks.js", os.path.abspath("packed/extension/extension.js"), text=True)
    tasks = json.loads(done.stdout)
    check([task["execution"] for task in tasks] == [
        {"command": "penta", "args": ["asm", "src/kernel.kasm", "-o", "src/kernel.kblob"]},
        {"command": "penta", "args": ["validate", "src/kernel.kblob"]},
        {"command": "penta", "args": ["dis", "a.coil", "--arrows"]}], tasks)


def test_problem_matchers():
    """Both take what the tool prints: places in text, and files whose bytes are wrong."""
    with open(f"{ROOT}/editors/vscode/package.json", encoding="utf-8") as file:
        matchers = {one["name"]: one["pattern"] for one in json.load(file)["contributes"]["problemMatchers"]}
    write("t.kasm", "    NONSENSE\n")
    write("t.kblob", b"\x05\xb1\x05\xb1" + bytes(40))
    for name, line, place in (("penta", ("asm", "t.kasm", "-o", "out"), ("t.kasm", "1", "5")), ("penta-file", ("validate", "t.kblob"), ("t.kblob",))):
        said = run_program(PENTA, *line, text=True).stderr.splitlines()
        first, second = (re.compile(pattern["regexp"]) for pattern in matchers[name])
        found = [(one, two) for one, two in zip(map(first.match, said), map(second.match, said[1:])) if one and two]
        check(found and found[0][1].groups() == place, (name, said))
        check(found[0][0][1] == "error" and found[0][0][2] and found[0][0][3], (name, said))


if __name__ == "__main__":
    sys.exit(main(globals()))

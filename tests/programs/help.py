#!/usr/bin/env python3
"""What help, manual pages and completions say about options and the words of their values.

    tests/programs/help.py PENTA
"""
import json
import re
import sys

from support import ROOT, Terminal, call, check, exits, has_command, main, read_text, run_program, write


def help_of(command, *format):
    return exits(0, "help", command, *format).stdout.decode()


def words(command, format, option, part="NAME"):
    """The words that help lists for an option, in its first column or on lines of their own."""
    text = help_of(command, format)
    row = re.search(rf"^  (?:-\w, )?--{option} (\S+).*\n((?: {{33}}.*\n)*)", text, re.M)
    check(row, f"--{option} is not in\n{text}")
    lists = " ".join(row[2].split())
    for name, listed in re.findall(r"([A-Z]+): ((?:[^\s,]+, )*[^\s,]+)", lists):
        if name == part:
            return listed.split(", ")
    return row[1].split("|")


def test_values_are_listed():
    """Engines of each format, boards, pins, curves: in help and in the manual."""
    check(words("run", "pvm", "engine") == ["interp", "jit", "both"], "engines of pvm")
    check(words("run", "kblob", "engine") == ["interp"], "engines of kblob")
    check("--engine interp|jit|both" in help_of("run"), "engines of all")
    boards = exits(0, "board", "list").stdout.decode().split()
    check(words("create", "cvbc", "target", "BOARD") == boards, "targets")
    check(words("board", "cvbc", "board") == boards, "boards")
    check(words("run", "cvbc", "board") == ["trace", *boards], "boards of run")
    functions = words("create", "cvbc", "pin", "FUNCTION")
    check("gpio" in functions and "interrupt" in functions, functions)
    check(words("create", "cvbc", "pin", "MODE") == ["input", "output", "alternate", "analog"], "modes")
    check(words("keygen", "cvbc", "type", "KIND") == ["ed25519", "p256", "rsa2048", "lms", "ed25519+lms"], "curves")
    check("full-l3-hit" in words("run", "pvm", "gas-model"), "gas models")
    man = exits(0, "help", "create", "--man").stdout.decode().replace("\\-", "-")
    for word in [*boards, *functions, "chacha20_poly1305", "sha256|blake2b"]:
        check(word in man, f"{word} in the manual page")


def test_commands_of_one_format_list_its_options():
    foreign = {"seal": "--endian", "sign": "--dialect", "verify": "--shapes", "pubkey": "--key-file",
               "board": "--trailer", "create": "--strip-all", "jit": "--board",
               "open": "--isa", "convert": "--board"}
    for command, option in foreign.items():
        text = help_of(command)
        check(option + " " not in text, f"{option} in penta help {command}")
        formats = set(" ".join(re.findall(r"\[([a-z -]+)\]$", text, re.M)).split())
        absent = "cvbc" if command == "convert" else "kblob" # which cannot do this
        check(absent not in formats, f"{formats} in penta help {command}")
    write("k.kasm", "halt\n")
    exits(0, "asm", "k.kasm", "-o", "k.kblob")
    check(b"unknown option '--endian'" in exits(2, "sign", "k.kblob", "--endian", "big").stderr, "refused")


def test_listed_values_are_the_ones_that_are_taken():
    """Each word is accepted where it is listed, and another one is not."""
    write("p.pvmasm", "    trap\n")
    write("c.casm", "halt\n")
    write("t.tasm", ".program\n    halt\n")
    write("v.cvasm", "HALT\n")
    write("secret", "ab" * 32)
    exits(0, "keygen", "-o", "k.pem")
    for name, out in (("p.pvmasm", "p.pvm"), ("c.casm", "c.coil"), ("t.tasm", "t.tvmr"), ("v.cvasm", "v.cvbc")):
        exits(0, "asm", name, "-o", out, *(["--isa=latest64"] if "pvm" in name else []))
    places = (("pvm", "asm p.pvmasm -o out", "isa"), ("pvm", "asm p.pvmasm --isa latest64 -o out", "dialect"),
              ("pvm", "dis p.pvm", "style"), ("pvm", "dis p.pvm --gas", "gas-model"), ("pvm", "dis p.pvm", "profile"),
              ("pvm", "run p.pvm --pc 0", "engine"), ("pvm", "run p.pvm --pc 0", "profile"),
              ("pvm", "run p.pvm --pc 0 --gas 9", "gas-model"), ("pvm", "run p.pvm --pc 0 --gas 9", "gas-mode"),
              ("coil", "asm c.casm -o out", "endian"), ("coil", "info c.coil", "align"), ("coil", "run c.coil", "vendor"),
              ("coil", "convert c.coil -o out", "endian"), ("cvbc", "extract v.cvbc -o out", "part"),
              ("cvbc", "create v.cvasm -o out --key-file secret", "cipher"),
              ("cvbc", "create v.cvasm -o out --key-file secret", "derive"),
              ("cvbc", "create v.cvasm -o out --sign-key k.pem", "hash"), ("cvbc", "create v.cvasm -o out", "language"),
              ("cvbc", "create v.cvasm -o out", "target"), ("cvbc", "run v.cvbc", "board"),
              ("cvbc", "pubkey k.pem", "form"), ("kblob", "info p.pvm", "color"), ("cvbc", "keygen -o new", "type"))
    for format, line, option in places:
        part = "KIND" if option == "type" else "BOARD" if option == "target" else "NAME"
        for word in words(line.split()[0], format, option, part):
            done = call(*line.split(), f"--{option}={word}")
            check(b"is none of" not in done.stderr and b"neither" not in done.stderr and b"unknown" not in done.stderr,
                  f"penta {line} --{option} {word}: {done.stderr.decode()}")
            run_program("rm", "-f", "new")
        done = call(*line.split(), f"--{option}=nonsense")
        check(done.returncode in (1, 2, 4) and done.stderr, f"penta {line} --{option} nonsense: {done}")


def test_commands_stand_in_groups():
    """Overview, document, manual page and README have the same groups in the same order."""
    rows = json.loads(exits(0, "help", "--json").stdout)["commands"]
    names = [row["name"] for row in rows]
    check(len(set(names)) == len(names) > 40 and sorted(names) == sorted(re.findall(r"^  ([a-z]+) ", help_of_all(), re.M)), names)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    check([row["group"] for row in rows] == [group for group in groups for row in rows if row["group"] == group], "in order")
    blocks = dict(re.findall(r"^([a-z].*)\n((?:  .*\n)+)", help_of_all(), re.M))
    manual = exits(0, "help", "--man").stdout.decode()
    check(re.findall(r"^\.SS (.*)", manual, re.M) == groups, "groups of the manual page")
    for group in groups:
        check(re.findall(r"^  ([a-z]+) ", blocks[group], re.M) == [row["name"] for row in rows if row["group"] == group], group)
    readme = read_text(f"{ROOT}/README.md")
    check(re.findall(r"^\| [^|]* \| `([a-z]+)` \| ", readme, re.M) == names, "README")


def test_short_help_begins_with_what_matters():
    """The options that commands.def names first are options of the command, and come first in -h."""
    table = re.findall(r'^COMMAND\(\w+, "(\w+)", .*?(?:"[^"]*"),\s*"([a-z -]*)",', read_text(f"{ROOT}/src/cli/commands.def"), re.M)
    check(len(table) == len(json.loads(exits(0, "help", "--json").stdout)["commands"]), table)
    for command, first in table:
        listed = [row["name"] for row in json.loads(exits(0, "help", command, "--json").stdout)["options"]]
        check(set(first.split()) <= set(listed), (command, set(first.split()) - set(listed)))
        shown = re.findall(r"^  (?:-\w, )?--([\w-]+)", exits(0, command, "-h").stdout.decode(), re.M)
        shown = list(dict.fromkeys(shown))
        check(shown[:len(first.split())] == first.split()[:len(shown)], (command, shown))
    check("--sign-key" in exits(0, "sign", "-h").stdout.decode(), "sign -h")


def test_synonyms_are_suggested():
    """Each word of the table leads to a command or an option that exists; so does a word that is nearly one of them."""
    table = read_text(f"{ROOT}/src/cli/synonyms.def")
    rows = json.loads(exits(0, "help", "--json").stdout)["commands"]
    commands = {row["name"] for row in rows}
    for word, names in re.findall(r'^COMMAND_SYNONYM\("(\w+)", "(.*)"\)', table, re.M):
        check(word not in commands and set(names.split()) <= commands, (word, names))
        note = " or ".join(f"'penta {name}'" for name in names.split())
        check(f"did you mean {note}?" in exits(2, word).stderr.decode(), (word, note))
    options = {command: {row["name"] for row in json.loads(exits(0, "help", command, "--json").stdout)["options"]}
               for command in commands}
    synonyms = re.findall(r'^OPTION_SYNONYM\("([\w-]+)", "(.*)"\)', table, re.M)
    check(len(synonyms) > 20, synonyms)
    for word, names in synonyms:
        takers = [command for command in sorted(commands) if set(names.split()) & options[command] and word not in options[command]]
        check(takers, f"no command has an option for which '--{word}' could stand")
        note = " or ".join(f"'--{name}'" for name in names.split() if name in options[takers[0]])
        said = exits(2, takers[0], f"--{word}", "x").stderr.decode()
        check(f"did you mean {note}?" in said, (takers[0], word, said))
    check("did you mean 'penta dis'?" in exits(2, "dissasemble").stderr.decode(), "a misspelt synonym")
    check("did you mean" not in exits(2, "qqqq").stderr.decode(), "a word like no other")
    check("did you mean 'kblob'?" in exits(2, "formats", "kblb").stderr.decode(), "a format")
    for word, name in re.findall(r'^FORMAT_SYNONYM\("(\w+)", "(\w+)"\)', table, re.M):
        check(f"did you mean '{name}'?" in exits(2, "formats", word).stderr.decode(), word)


def test_unknown_words_are_told_what_comes_next():
    """What a person types first and finds not: a file without a command, a letter, a verb that is missing."""
    write("k.kasm", "halt\n")
    exits(0, "asm", "k.kasm", "-o", "k.kblob")
    for line, said in ((["k.kblob"], "it is a file: penta info k.kblob, penta run k.kblob"), (["-v"], "did you mean '--version'?"),
                       (["--nonsense"], "unknown option '--nonsense'\n   = note: a command comes first: penta help lists them"),
                       (["run", "k.kblob", "-y"], "unknown option '-y' for penta run\n   = note: penta help run lists its options"),
                       (["completion"], "penta completion needs a shell\n"), (["completion", "ksh"], "no completion for 'ksh'"),
                       (["batch"], "penta batch needs a verb\n"), (["batch", "link", "x", "-o", "y"], "penta batch does not run 'link'"),
                       (["board"], "penta board needs a verb\n"), (["board", "check"], "penta board check needs FILE..."),
                       (["board", "draw", "x"], "penta board has no verb 'draw'"),
                       (["run", "k.kblob", "word"], "kblob programs take no arguments: 'word'"),
                       (["run", "k.kblob", "--board", "rp2040"], "kblob files have no option '--board'\n   = note: files that have it: cvbc")):
        text = exits(2, *line).stderr.decode()
        check(said in text, (line, text))
    check(exits(0, "explain", "kblob9").stdout == exits(0, "explain", "KBLOB0009").stdout != b"", "a code without zeros")
    exits(2, "explain", "kblob")
    exits(2, "explain", "9")


def help_of_all():
    return exits(0, "help").stdout.decode()


def complete(*line):
    """What bash would offer for the last of these words, cut as bash cuts them."""
    script = exits(0, "completion", "bash").stdout.decode()
    array = " ".join(f"'{word}'" for word in line)
    last = "" if line[-1] in (":", "=") else line[-1]
    done = run_program("bash", "-c",
                       f"{script}\nCOMP_WORDS=({array}); COMP_CWORD={len(line) - 1}\n_penta penta '{last}' x; echo ${{COMPREPLY[@]}}")
    return done.stdout.decode().split()


def test_bash_completes_values():
    check(complete("penta", "run", "--engine", "") == ["interp", "jit", "both"], "engines")
    check(complete("penta", "run", "x", "--engine", "=", "j") == ["jit"], "after =")
    check(complete("penta", "run", "-f", "k") == ["kblob"], "a letter")
    check(complete("penta", "create", "x.c", "--pin", "C13", ":", "pw") == ["pwm_out"], "a pin's function")
    check(complete("penta", "create", "x.c", "--pin", "C13", ":", "gpio", ":") == ["input", "output", "alternate", "analog"],
          "a pin's mode")
    check(complete("penta", "board", "ch") == ["check"], "verbs")
    check("trace" not in complete("penta", "board", "--board", ""), "a word of the option that another command has")
    check(complete("penta", "completion", "z") == ["zsh"], "shells")
    check("--trailer" not in complete("penta", "sign", "--t"), "options of another format")
    for shell, mark in (("zsh", "(stm32g431 stm32g474"), ("fish", "-a 'stm32g431 stm32g474")):
        script = exits(0, "completion", shell).stdout.decode()
        check(mark in script and '"input output alternate analog"' in script, shell)
        if has_command(shell):
            check(run_program(shell, "-n", data=script.encode()).returncode == 0, f"{shell} -n")


def test_bash_completes_values_at_a_prompt():
    """In a real shell, which cuts words at colons by itself."""
    write("penta.bash", exits(0, "completion", "bash").stdout.decode())
    shell = Terminal("/bin/bash", "--norc", "--noprofile", "-i", env={"PS1": "ready> "})
    shell.until(b"ready> ")
    shell.write(b"source penta.bash\n")
    shell.until(b"ready> ", 2)
    shell.write(b"echo penta\x01\x0b")              # an empty line again
    shell.write(b"penta create x --pin C13:pwm\t")
    shell.until(b"C13:pwm_out")
    shell.write(b"\x15penta run x --isa=rev\t")
    shell.until(b"--isa=revive_v1")
    shell.write(b"\x15exit\n")
    shell.end()


if __name__ == "__main__":
    sys.exit(main(globals()))

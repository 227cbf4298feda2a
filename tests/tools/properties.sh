#!/bin/sh
# properties.sh PENTA PROPERTIES EVERY [DOCUMENTS]: the in-process properties over the bytes of every case file,
# on one in EVERY of the truncated and flipped variants, with the documents of one in DOCUMENTS (5) of those.
set -eu
cd "$(dirname "$0")/../.."
[ -x "$2" ] || { echo "$2 is not there: skipped"; exit 77; }
cases=$(mktemp -d)
trap 'rm -rf "$cases"' EXIT
python3 tests/tools/run --penta "$1" --dump "$cases"
run=
case $2 in
*wasm*)
    command -v node >/dev/null || { echo "no node: skipped"; exit 77; }
    flags=--no-warnings
    case $(node --version) in v1[0-9].*) flags="$flags --experimental-wasm-return-call" ;; esac
    run="node $flags tests/tools/wasi.mjs" ;;
*s390x*)
    command -v qemu-s390x >/dev/null || { echo "no qemu-s390x: skipped"; exit 77; }
    run="qemu-s390x -L /usr/s390x-linux-gnu" ;;
*)
    other=$(dirname "$(dirname "$2")")/run/program # a build for another machine has it
    if [ -x "$other" ]; then run=$other; fi ;;
esac
$run "$2" --every "$3" ${4:+--documents "$4"} "$cases"/*.bin

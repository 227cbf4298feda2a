#!/bin/sh
# Checks the programs below a folder, for a job of CI: check.sh [FOLDER]. What was found is in penta.sarif, each file a case in
# penta.xml. Exits with 1 when a program is broken, with another number when the check itself failed.
#
# PENTA names the tool where it is not in PATH, VERB another check than validate: verify, roundtrip. VERB=conform runs test vectors.
set -eu
penta=${PENTA:-penta}
folder=${1:-.}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# What is no program of a format is passed over: its line says `format`. So is a file with a quote or a backslash in its name.
"$penta" batch detect "$folder" -q -o "$results/detected" --fields format
sed -n 's/^{"n":[0-9]*,"source":"\([^"\\]*\)",.*"exit":0,.*/\1/p' "$results/detected" >"$results/programs"
if [ ! -s "$results/programs" ]; then
    echo "no program below $folder"
    exit 0
fi
"$penta" batch "${VERB:-validate}" --from "$results/programs" -o "$results/lines" --exit-verdict --sarif penta.sarif --junit penta.xml

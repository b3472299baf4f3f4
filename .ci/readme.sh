#!/usr/bin/env bash
# Runs every command of README.md that stands in a block marked ```sh, literally, and fails when one fails. Blocks that need an account on a wiki or a key are
# marked ```console instead and are not run.
set -euo pipefail
cd "$(dirname "$0")/.."
script=$(mktemp)
trap 'rm -f "$script"' EXIT
awk '/^```sh$/{on=1;next} /^```$/{on=0} on' README.md > "$script"
[ -s "$script" ] || { echo "README.md has no \`\`\`sh block"; exit 1; }
cat "$script"
bash -euo pipefail "$script" > /dev/null
echo "the README's commands work"

#!/usr/bin/env bash
# Checks that trainers can load the exports of `trace export`: makes exports of real runs, and loads them with datasets
# and TRL; see check.py. It needs Go, python3 with venv, and PyPI, and fails without one of them. TRL is installed
# without its dependencies, such as torch, because its data functions need none of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
if ! python3 -c 'import ensurepip' 2>/dev/null; then # Debian's python3 comes without
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends python3-venv
fi
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check -r tools/loaders/requirements.txt
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps trl==1.16.0
"$dir/venv/bin/python" -c 'import importlib.util as i, sys; sys.exit(i.find_spec("torch") and "torch is installed; this must work without it")'

go build -o "$dir/spinachbot" ./cmd/spinachbot
"$dir/spinachbot" sandbox --addr 127.0.0.1:0 --data-dir "$dir/data" > "$dir/settings" & server=$!
for _ in $(seq 100); do ! grep -q OPENAI_MODEL "$dir/settings" || break; sleep 0.1; done
set -a
eval "$(grep -E '^(OPENAI_|SPARQL_|WIKI_API)' "$dir/settings")"
set +a
mkdir "$dir/exports"
for preset in spinach best; do
  "$dir/spinachbot" eval run --data-dir "$dir/data" --preset "$preset" --out "$dir/$preset" examples/questions.json > "$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
  for form in openai sft; do
    "$dir/spinachbot" trace export --as "$form" --out "$dir/exports/$form-$preset.jsonl" "$dir/$preset"
  done
done
"$dir/spinachbot" trace export --as sft --min-f1 0.67 --license cc-by-sa-4.0 --out "$dir/card" "$dir/spinach"
"$dir/venv/bin/python" -c 'import sys; from datasets import load_dataset; print(load_dataset(sys.argv[1], split="train", cache_dir=sys.argv[2]))' "$dir/card" "$dir/cache"
LOADERS="$dir/exports" go test -count=1 -run '^TestForLoaders$' ./dataset/training
HF_HOME="$dir/hf" "$dir/venv/bin/python" tools/loaders/check.py "$dir/exports"

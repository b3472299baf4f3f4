#!/usr/bin/env bash
# Runs every command in the blocks marked ```sh of README.md and docs/*.md, literally, page by page, each page in a fresh
# copy of the sources. Blocks marked ```console need an account on a wiki, a key or the network, and are not run. A line
# "<!-- check: COMMAND -->" is run, too: the command does what the text asks the reader to do in a browser.
# Usage: .ci/docs.sh [PAGE...]
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
tmp=$(mktemp -d)
export GOBIN=$tmp/bin
export PATH=$GOBIN:$PATH
pages=("$@")
[ "${#pages[@]}" -gt 0 ] || pages=(README.md docs/*.md)
stop() { # ends what a page left running
  [ -z "${group:-}" ] || kill -- "-$group" 2> /dev/null || true
}
trap 'stop; rm -rf "$tmp"' EXIT
n=0
for page in "${pages[@]}"; do
  awk '/^```sh$/{on=1;next} /^```$/{on=0} on {print; next} /^<!-- check: .* -->$/{sub(/^<!-- check: /,""); sub(/ -->$/,""); print}' "$page" > "$tmp/page.sh"
  [ -s "$tmp/page.sh" ] || continue
  echo "--- $page"
  rm -rf "$tmp/copy"
  mkdir "$tmp/copy"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tmp/copy"
  cd "$tmp/copy"
  set -m # a process group of its own, so that processes that the page leaves running can be ended
  # Blocks wait for servers in loops. A server that never starts must not hold up the gate for long.
  env -u OPENAI_API_KEY -u OPENAI_BASE_URL timeout --kill-after 10 900 bash -euxo pipefail "$tmp/page.sh" > "$tmp/out" 2> "$tmp/err" &
  group=$!
  set +m
  if ! wait "$group"; then
    tail -n 20 "$tmp/out"; grep -v '^++' "$tmp/err" | tail -n 30
    echo "a command of $page fails"
    exit 1
  fi
  stop
  cd "$top"
  n=$((n + 1))
done
echo "the commands of $n pages work"
[ "$n" -gt 0 ]

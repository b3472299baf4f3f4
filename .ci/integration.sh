#!/usr/bin/env bash
# The integration run, with a real MediaWiki, Chromium, the system call tracer and three SPARQL engines. If one is
# missing, it fails and does not skip anything; the engines are installed (engines.sh). Arguments are passed to the go
# test that tests the program. PARTS chooses parts, such as PARTS=program.
set -euo pipefail
cd "$(dirname "$0")/.."
parts=${PARTS:-wiki program engines}
part() { [[ " $parts " == *" $1 "* ]]; }
for tool in php chromium strace npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing; .ci/run installs what the integration run needs"; exit 1; }
done
dir=$(mktemp -d)
trap 'kill ${engines:-} 2>/dev/null || true; bash tools/realwiki/stop.sh "$dir" >/dev/null 2>&1 || true; bash tools/postgres/stop.sh "$dir/postgres" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
chmod 755 "$dir" # PostgreSQL runs as a user of its own
if part wiki; then
  echo "--- the wiki client and the sandbox's wiki against MediaWiki"
  settings=$(bash tools/realwiki/start.sh "$dir")
  set -a
  eval "$settings"
  set +a
  go test -tags integration -count=1 ./internal/sandbox/wiki/
  for v in $(compgen -e | grep -E '^(WIKI_|REALWIKI_|FORUM_)'); do unset "$v"; done
fi
if part engines; then
  bash tools/engines/install.sh
  bash .ci/engines.sh > "$dir/engines.txt" 2>&1 & # at the same time as the program's tests, which mostly wait
  engines=$!
fi
if part program; then
  echo "--- the ledger in PostgreSQL"
  settings=$(bash tools/postgres/start.sh "$dir/postgres")
  export "${settings?}"
  go test -count=1 ./internal/store/
  echo "--- the program"
  npm install --silent --no-audit --no-fund --no-save --prefix "$dir/axe" axe-core@4.14.1 # accessibility checker, injected into pages only by the tests
  export AXE_CORE="$dir/axe/node_modules/axe-core/axe.min.js"
  # Each test is printed with its time when it ends, so that the output of a run that is cut off shows where.
  go test -tags integration -count=1 -timeout 30m -v "$@" ./internal/integration/ 2>&1 | grep -v '^=== '
fi
if part engines; then
  echo "--- the dialect and the embedded graph against other engines"
  wait "$engines" || { cat "$dir/engines.txt"; exit 1; }
  cat "$dir/engines.txt"
fi

#!/usr/bin/env bash
# The integration run: a real MediaWiki, Chromium and the system call tracer. Fails, not skips, when one is missing. Arguments go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in php chromium strace; do
  command -v "$tool" >/dev/null || { echo "$tool is missing; .ci/run installs what the integration run needs"; exit 1; }
done
dir=$(mktemp -d)
trap 'bash tools/realwiki/stop.sh "$dir" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
echo "--- the wiki client and the sandbox's wiki against MediaWiki"
settings=$(bash tools/realwiki/start.sh "$dir")
set -a
eval "$settings"
set +a
go test -tags integration -count=1 ./internal/sandbox/wiki/
for v in $(compgen -e | grep -E '^(WIKI_|REALWIKI_|FORUM_)'); do unset "$v"; done
echo "--- the program"
go test -tags integration -count=1 -timeout 45m "$@" ./internal/integration/

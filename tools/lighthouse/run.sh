#!/usr/bin/env bash
# Lighthouse (npm: lighthouse) measures every page of spinachbot serve: an answer, the runs, the desk, the login, the
# page for annotators and the query editor, all with the scripted model. The script prints the median of five
# measurements of each page, and fails if one is below 95 in performance or accessibility. Performance is measured with
# Lighthouse's simulated slow phone; a busy machine lowers it. Needs npm and Chromium.
# Usage: tools/lighthouse/run.sh [LOOKS], where LOOKS is the number of measurements of each page (default 5).
# With LEAST=0 it fails for accessibility only. LIGHTHOUSE=DIR uses an npm folder that already has lighthouse and node.
set -euo pipefail
cd "$(dirname "$0")"
looks=${1:-5}
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$tmp"' EXIT
(cd ../.. && go build -o "$tmp/spinachbot" ./cmd/spinachbot)
npm=${LIGHTHOUSE:-$tmp}
[ -d "$npm/node_modules/lighthouse" ] || npm install --silent --no-audit --no-fund --no-save --prefix "$npm" lighthouse@13.5.0 node@22
export PATH=$npm/node_modules/.bin:$PATH CHROME_PATH=${CHROME_PATH:-$(command -v chromium)}
cd "$tmp"
umask 077
./spinachbot sandbox --addr 127.0.0.1:0 > sandbox.txt 2> sandbox.err &
for _ in $(seq 100); do grep -q OPENAI_MODEL sandbox.txt && break; sleep 0.1; done
{ grep = sandbox.txt; echo OPERATOR=Quizmistress; echo CONTACT=you@example.org; echo ANSWER_SINCE=2026-01-01; } > .env
./spinachbot run --once --posting propose 2> run.err || { cat run.err; exit 1; }
./spinachbot harvest --no-suggest --out harvest > harvest.txt 2>&1 || { cat harvest.txt; exit 1; }
serve() { # NAME VARIABLE...: a server; its address goes to NAME.txt
  local name=$1
  shift
  env "$@" ./spinachbot serve --addr 127.0.0.1:0 --annotate harvest > "$name.txt" 2> "$name.err" &
  for _ in $(seq 100); do grep -q http "$name.txt" && break; sleep 0.1; done
}
serve open
serve locked OPERATOR_TOKEN=0123456789abcdef0123456789abcdef
open=$(grep -o 'http://[0-9.:]*' open.txt) locked=$(grep -o 'http://[0-9.:]*' locked.txt)
answer=$(curl -sf -o answer.html -w '%{redirect_url}' "$open/a" -d "q=What is the capital of Ivory Coast according to Wikidata?")
curl -sfN "$answer/events" | grep -m1 'event: end' > end.txt
run=$open$(curl -sf "$open/runs" | grep -o '/runs/question/[^"]*' | head -1)
item=$open$(curl -sfL -H "Cookie: annotator=Ada" "$open/annotate/" | grep -o '/annotate/item/[^"?]*' | head -1)
below=0
look() { # NAME ADDRESS
  for n in $(seq "$looks"); do
    for try in 1 2 3; do # now and then Chromium records no trace
      lighthouse "$2" --quiet --only-categories=performance,accessibility --output=json --output-path="$1.$n.json" \
        --chrome-flags="--headless=new --no-sandbox --disable-dev-shm-usage" 2> lighthouse.err && break
      [ "$try" != 3 ] || { cat lighthouse.err; exit 1; }
    done
  done
  node -e '
    const [name, least, ...files] = process.argv.slice(1);
    const all = files.map((f) => JSON.parse(require("fs").readFileSync(f)));
    const median = (c) => all.map((r) => Math.round(100 * r.categories[c].score)).sort((a, b) => a - b)[all.length >> 1];
    const wrong = Object.values(all[0].audits).filter((a) => a.score === 0 && all[0].categories.accessibility.auditRefs.some((r) => r.id === a.id)).map((a) => a.id);
    const [p, a] = [median("performance"), median("accessibility")];
    console.log(name.padEnd(12) + "performance " + p + "  accessibility " + a + "  " + wrong.join(" "));
    process.exit(p < least || a < 95 ? 1 : 0);' "$1" "${LEAST:-95}" "$1".*.json || below=1
}
look ask "$open/"
look answer "$answer"
look editor "$open/editor"
look runs "$open/runs"
look run "$run"
look desk "$open/operator"
look login "$locked/login"
look annotate "$open/annotate/"
look item "$item"
exit "$below"

#!/usr/bin/env bash
# The TEXT2SPARQL challenge's own client (PyPI: text2sparql-client) asks spinachbot serve, runs the queries and measures
# them. The model is the sandbox's script, so the figures are known: all answers are right, except to the question that
# has no answer. Installs the client into a folder of its own. Needs Python 3.11 or later with venv.
# Usage: tools/challenge/run.sh
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT
(cd ../.. && go build -o "$tmp/spinachbot" ./cmd/spinachbot)
python3 -m venv "$tmp/venv"
# The client requires pytrec-eval, which is built from a download; pytrec-eval-terrier is the same module as a wheel.
"$tmp/venv/bin/pip" install -q --no-deps text2sparql-client==2.1.0
"$tmp/venv/bin/pip" install -q 'numpy<2' pytrec-eval-terrier 'fastapi<0.129' 'uvicorn<0.35' 'setuptools<81' \
  SPARQLWrapper click loguru pydantic-settings pyyaml requests scipy tqdm 2>"$tmp/pip.err" || { cat "$tmp/pip.err"; exit 1; }
cd "$tmp"
: > .env
./spinachbot sandbox --addr 127.0.0.1:0 > sandbox.txt 2> sandbox.err &
for _ in $(seq 100); do grep -q OPENAI_MODEL sandbox.txt && break; sleep 0.1; done
grep = sandbox.txt > .env
sparql=$(sed -n 's/^SPARQL_ENDPOINT=//p' .env)
./spinachbot serve --addr 127.0.0.1:0 --preset best --dataset https://example.org/countries/ > serve.txt 2> serve.err &
for _ in $(seq 100); do grep -q http serve.txt && break; sleep 0.1; done
address=$(grep -o 'http://[0-9.:]*' serve.txt | head -1)
client=venv/bin/text2sparql
for path in text2sparql ""; do
  for lang in en de; do
    rm -f responses.db answers.json true.json pred.json result.json
    {
      $client ask -o answers.json --retries 0 "$here/questions.$lang.yaml" "$address/$path"
      $client query -e "$sparql" -l "['$lang']" -o true.json "$here/questions.$lang.yaml"
      $client query -e "$sparql" -l "['$lang']" -a answers.json -o pred.json "$here/questions.$lang.yaml"
      $client evaluate -l "['$lang']" -o result.json spinachbot true.json pred.json
    } 2> client.err || { cat client.err serve.err; exit 1; }
    python3 - "$path" "$lang" <<'P'
import json, sys
path, lang = sys.argv[1:]
result = json.load(open("result.json"))
got = {name: scores.get("set_F") for name, scores in result.items() if name.startswith("countries:")}
# Question 5 in English has no answer here. Its gold answer is empty, so the measure leaves it out.
want = {"countries:%d-%s" % (i, lang): 1.0 for i in range(1, 5 if lang == "en" else 2)}
if got != want:
    print("/%s %s: set_F is %s, want %s" % (path, lang, got, want), open("answers.json").read())
    sys.exit(1)
print("/%s %s: set_F 1.0, questions: %d" % (path, lang, len(want)))
P
  done
done

#!/usr/bin/env bash
# The TEXT2SPARQL challenge's own client (PyPI: text2sparql-client 2.1.0) asks spinachbot serve the thirty questions about
# the library, runs the queries on the library's endpoint and measures them. The model is a script: -script makes it from a
# run's results, or from the right queries if no run is given. Needs Python 3.11 or later with venv.
# Usage: tools/library/challenge.sh [results.jsonl]
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
answers=$(realpath "${1:-questions.jsonl}")
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT
(cd ../.. && go build -o "$tmp/spinachbot" ./cmd/spinachbot && go build -o "$tmp/library" ./tools/library &&
  go build -o "$tmp/graphbench" ./tools/graphbench)
python3 -m venv "$tmp/venv"
# The client requires pytrec-eval, which is built from a download; pytrec-eval-terrier is the same module as a wheel.
"$tmp/venv/bin/pip" install -q --no-deps text2sparql-client==2.1.0
"$tmp/venv/bin/pip" install -q 'numpy<2' pytrec-eval-terrier 'fastapi<0.129' 'uvicorn<0.35' 'setuptools<81' \
  SPARQLWrapper click loguru pydantic-settings pyyaml requests scipy tqdm 2>"$tmp/pip.err" || { cat "$tmp/pip.err"; exit 1; }
cd "$tmp"
: > .env
wait_for() { for _ in $(seq 300); do grep -q "$1" "$2" && return; sleep 0.1; done; echo "nothing in $2"; exit 1; }
./library > library.nt
./library -script "$answers" > script.txt
./library -client "$here/questions.jsonl" > questions.yaml
sleep 100000 | ./graphbench -child embedded library.nt > graph.txt &
wait_for 127.0.0.1 graph.txt
sparql=http://$(grep -o '127.0.0.1:[0-9]*' graph.txt)/sparql
export KG_FILE=$tmp/graphs.yaml CONTACT=library@example.org DATA_DIR=$tmp/data
./spinachbot kg add "$sparql" --name library > /dev/null
./spinachbot sandbox --addr 127.0.0.1:0 --script script.txt > sandbox.txt 2> sandbox.err &
wait_for OPENAI_MODEL sandbox.txt
grep OPENAI sandbox.txt > .env
./spinachbot serve --addr 127.0.0.1:0 --kg library --dataset http://library.example/ > serve.txt 2> serve.err &
wait_for http serve.txt
address=$(grep -o 'http://[0-9.:]*' serve.txt | head -1)
client=venv/bin/text2sparql
{
  $client ask -o answers.json --retries 0 questions.yaml "$address/text2sparql"
  $client query -e "$sparql" -l "['en']" -o true.json questions.yaml
  $client query -e "$sparql" -l "['en']" -a answers.json -o pred.json questions.yaml
  $client evaluate -l "['en']" -o result.json spinachbot true.json pred.json
} 2> client.err || { cat client.err serve.err; exit 1; }
python3 - "$here/questions.jsonl" <<'P'
import json
import sys
result = json.load(open("result.json"))
mean = result.pop("average", {})
scores = {k: v for k, v in result.items() if k.startswith("library:")}
for k, v in sorted(scores.items()):
    if v.get("set_F", 0) < 1:
        print(k, v)
print("questions: %d, mean set_P %.3f, set_R %.3f, set_F %.3f; the client's averages: %s" % (
    (len(scores),) + tuple(sum(v.get(m, 0) for v in scores.values()) / max(len(scores), 1) for m in ("set_P", "set_recall", "set_F")) + (mean,)))
want = sum(1 for line in open(sys.argv[1]) if line.strip())
if len(scores) != want:
    sys.exit("the client measured %d of %d questions" % (len(scores), want))
P

#!/usr/bin/env bash
# The official inspector of the Model Context Protocol (npm: @modelcontextprotocol/inspector) as a client of spinachbot:
# over standard input and output, and over HTTP. It calls every tool once on the built-in graph and checks the answers.
# Installs the inspector and the Node.js that it needs into a folder of its own. Needs npm. Usage: tools/inspector/run.sh
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT
(cd ../.. && go build -o "$tmp/spinachbot" ./cmd/spinachbot)
npm install --silent --no-audit --no-fund --no-save --prefix "$tmp" @modelcontextprotocol/inspector@2.12.0 node@22
export PATH=$tmp/node_modules/.bin:$tmp:$PATH
cd "$tmp"
: > .env
./spinachbot sandbox --addr 127.0.0.1:0 > sandbox.txt 2> sandbox.err &
for _ in $(seq 100); do grep -q OPENAI_MODEL sandbox.txt && break; sleep 0.1; done
grep = sandbox.txt > .env
cat > examples.json <<'E'
[{"id": "capitals", "question": "What are the capitals of all countries?", "sparql": "SELECT ?c WHERE { ?x wdt:P36 ?c }"}]
E
./spinachbot serve --addr 127.0.0.1:0 --kg embedded --mcp-examples examples.json > serve.txt 2> serve.err &
for _ in $(seq 100); do grep -q http serve.txt && break; sleep 0.1; done
address=$(grep -o 'http://[0-9.:]*' serve.txt | head -1)
count=0
try() { # WANT ARGUMENT...: the answer to a method must contain WANT
  local want=$1 out
  shift
  out=$(timeout 120 mcp-inspector --cli "${target[@]}" "$@" 2> inspector.err) || true # it fails if a tool reports a failure
  if ! grep -qF -- "$want" <<< "$out"; then
    echo "${target[*]} $*: the answer does not contain $want"; printf '%s\n' "$out" | head -c 2000; tail -n 20 inspector.err serve.err; exit 1
  fi
  count=$((count + 1))
}
call() { # WANT TOOL ARGUMENT...: the answer of a tool must contain WANT
  local want=$1 tool=$2 args=()
  shift 2
  for a in "$@"; do args+=(--tool-arg "$a"); done
  try "$want" --method tools/call --tool-name "$tool" "${args[@]}"
}
targets=("./spinachbot mcp --kg embedded --examples examples.json" "$address/mcp --transport http")
for t in "${targets[@]}"; do
  read -ra target <<< "$t"
  list=$(mcp-inspector --cli "${target[@]}" --method tools/list)
  for tool in search entity statements property class_shape list_triples check_query explain_query rewrite_query execute_query ask; do
    grep -qF "\"name\": \"$tool\"" <<< "$list" || { echo "there is no tool $tool"; exit 1; }
  done
  try write_query --method prompts/list
  try 'Which rivers?' --method prompts/get --prompt-name write_query --prompt-args 'question=Which rivers?'
  try example:///capitals --method resources/list
  try 'wdt:P36 ?c' --method resources/read --uri example:///capitals
  call Q64 search 'names=["Berlin","capital"]' language=en
  call P36 entity id=Q183
  call Q64 statements entity=Q183 property=P36
  call capital property id=P36
  call P17 class_shape class=Q123480
  call Germany list_triples property=P36 object=Q64
  call '"ok": false' check_query 'sparql=SELECT ?x WHERE { ?x wdt:P36'
  call capital explain_query 'sparql=SELECT ?c WHERE { wd:Q183 wdt:P36 ?c }'
  call PREFIX rewrite_query 'sparql=SELECT ?c WHERE { wd:Q183 wdt:P36 ?c }' to=standard
  call '"more": true' execute_query 'sparql=SELECT ?c WHERE { ?c wdt:P30 wd:Q15 }' limit=2
  call 'wd:Q1008 wdt:P36' ask 'question=What is the capital of Ivory Coast according to Wikidata? An item number would be nice.'
  call Germany execute_query 'sparql=SELECT ?c WHERE { ?c wdt:P36 wd:Q64 }' kg=embedded
  call 'the graphs are: embedded, wikidata' execute_query 'sparql=ASK {}' kg=nowhere
done
echo "the inspector's $count calls succeeded"

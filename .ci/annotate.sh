#!/usr/bin/env bash
# Acts as an annotator for the check of the documentation: keeps every candidate of a harvest, each with its own
# question.
# Usage: .ci/annotate.sh ADDRESS DIR
set -euo pipefail
address=$1 dir=$2
for _ in $(seq 50); do curl --silent --fail "$address/api/alive" && break; sleep 0.2; done
post() { # path JSON
  curl --silent --show-error --fail-with-body --cookie annotator=Ada --header 'Content-Type: application/json' --data "$2" "$address/api/$1"
}
python3 - "$dir" <<'PY' | while IFS= read -r verdict; do post decide "$verdict" > /dev/null; done
import json, sys
for line in open(sys.argv[1] + "/candidates.jsonl"):
    c = json.loads(line)
    query = c.get("cleaned") or c["original"]
    question = c["provenance"]["heading"] + ": list them."
    print(json.dumps({"candidate": c["id"], "query": query, "question": question, "verdict": "include"}))
PY

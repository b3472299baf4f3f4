#!/usr/bin/env bash
# The dialect and the embedded graph against Virtuoso, Oxigraph and Blazegraph: installs what is missing (apt-get, npm, Maven), then runs the differential tests.
# Arguments go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
bash tools/engines/install.sh
[ -e "${SPINACHBOT_SHARED:-../shared}/data/slice" ] || echo "skipped: the gold and the forum queries, for the reference data is not here (SPINACHBOT_SHARED)"
go test -tags integration -count=1 -timeout 20m "$@" ./internal/integration/engines/

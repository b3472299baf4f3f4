#!/usr/bin/env bash
# Ends the server that start.sh started in DIR. The directory stays, so that its database and log can be examined.
set -euo pipefail
dir=${1:?usage: stop.sh DIR}
pid=$(cat "$dir/pid")
kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
rm -f "$dir/pid"

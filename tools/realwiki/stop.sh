#!/usr/bin/env bash
# Ends the server that start.sh started in DIR. The directory stays for a look at its database and log.
set -euo pipefail
dir=${1:?usage: stop.sh DIR}
pid=$(cat "$dir/pid")
kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
rm -f "$dir/pid"

#!/usr/bin/env bash
# Stops the server that start.sh started in a folder.
set -euo pipefail
dir=$(realpath -m "$1")
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as() { "$@"; }
[ "$(id -u)" != 0 ] || as() { runuser -u postgres -- "$@"; }
cd /
as "$bin/pg_ctl" --pgdata="$dir/pg" --mode=immediate stop >/dev/null

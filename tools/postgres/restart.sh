#!/usr/bin/env bash
# Restarts the server that start.sh started in a folder, without a clean shutdown: all connections end as in a crash.
set -euo pipefail
dir=$(realpath -m "$1")
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as() { "$@"; }
[ "$(id -u)" != 0 ] || as() { runuser -u postgres -- "$@"; }
cd /
as "$bin/pg_ctl" --pgdata="$dir/pg" --log="$dir/pg.log" --wait --timeout=60 --mode=immediate restart >/dev/null

#!/usr/bin/env bash
# Starts a PostgreSQL server of its own in a folder, on a free port of this machine, and prints its settings:
#
#   bash tools/postgres/start.sh DIR     prints STORE_TEST_DATABASE_URL=...
#   bash tools/postgres/restart.sh DIR   ends all connections, as a crash does
#   bash tools/postgres/stop.sh DIR
#
# Needs Debian's package postgresql. The server refuses to run as root; then it runs as the package's user.
set -euo pipefail
dir=$(realpath -m "$1")
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || { echo "PostgreSQL is missing: apt-get install postgresql" >&2; exit 1; }
as() { "$@"; }
mkdir -p "$dir"
if [ "$(id -u)" = 0 ]; then
  chown postgres "$dir"
  as() { runuser -u postgres -- "$@"; }
fi
port=$(bash "$(dirname "$0")/../freeport.sh")
cd / # a folder that the server's user can read
as "$bin/initdb" --pgdata="$dir/pg" --username=spinachbot --auth=trust --encoding=UTF8 --no-sync >"$dir/initdb.log"
as "$bin/pg_ctl" --pgdata="$dir/pg" --log="$dir/pg.log" --wait --timeout=60 \
  --options="-h 127.0.0.1 -p $port -k $dir -c fsync=off" start >"$dir/start.log"
echo "STORE_TEST_DATABASE_URL=postgres://spinachbot@127.0.0.1:$port/postgres"

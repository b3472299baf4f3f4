#!/usr/bin/env bash
# Runs one engine over files of RDF in the foreground: start.sh ENGINE DIR PORT PREFIXES FILE...
# ENGINE is virtuoso, oxigraph or blazegraph; DIR is an empty folder for the engine's files; PREFIXES is a file of
# predefined prefixes (name, tab, namespace). The engine is ready when http://127.0.0.1:PORT/sparql answers. Virtuoso
# answers before it has loaded the files, so DIR/ready must exist as well. DIR/loaded then contains the loading time in
# milliseconds. To stop the engine, end its process group.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${ENGINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/spinachbot-engines}
engine=$1 dir=$2 port=$3 prefixes=$4
shift 4
case $engine in
oxigraph)
  touch "$dir/ready"
  export LOADED="$dir/loaded"
  exec node --max-old-space-size=2048 "$here/oxigraph/server.js" "$port" "$cache/oxigraph/node_modules" "$@"
  ;;
blazegraph)
  echo 0 > "$dir/loaded" # not measured
  touch "$dir/ready"
  cd "$dir"
  exec java -Xmx2g -XX:+UseSerialGC --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
    -cp "$cache/blazegraph/classes:$cache/blazegraph/blazegraph-jar-2.1.5.jar" Server "$port" "$prefixes" "$@"
  ;;
virtuoso)
  sql=$((port + 1))
  cat > "$dir/virtuoso.ini" <<INI
[Database]
DatabaseFile = $dir/v.db
ErrorLogFile = $dir/v.log
LockFile = $dir/v.lck
TransactionFile = $dir/v.trx
xa_persistent_file = $dir/v.pxa
[TempDatabase]
DatabaseFile = $dir/t.db
TransactionFile = $dir/t.trx
[Parameters]
ServerPort = 127.0.0.1:$sql
NumberOfBuffers = 40000
MaxDirtyBuffers = 30000
CheckpointInterval = 0
DirsAllowed = $dir
[HTTPServer]
ServerPort = 127.0.0.1:$port
[SPARQL]
DefaultGraph = http://graph.example/
ResultSetMaxRows = 1000000
MaxQueryExecutionTime = 10
INI
  mkdir -p "$dir/data"
  for f in "$@"; do cp "$f" "$dir/data/"; done
  virtuoso-t +configfile "$dir/virtuoso.ini" +foreground &
  for _ in $(seq 600); do
    isql-vt "127.0.0.1:$sql" dba dba exec="status();" >/dev/null 2>&1 && break
    sleep 0.1
  done
  for f in "$dir"/data/*; do
    isql-vt "127.0.0.1:$sql" dba dba exec="log_enable(2,1); ld_add('$f','http://graph.example/');" >/dev/null
  done
  before=$(date +%s%3N)
  isql-vt "127.0.0.1:$sql" dba dba exec="rdf_loader_run(); SELECT ll_file, ll_error FROM DB.DBA.load_list WHERE ll_error IS NOT NULL;" > "$dir/load.log"
  echo "$(($(date +%s%3N) - before))" > "$dir/loaded"
  touch "$dir/ready"
  wait
  ;;
*)
  echo "no engine $engine" >&2
  exit 2
  ;;
esac

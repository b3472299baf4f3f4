#!/usr/bin/env bash
# Searches for failing inputs with every fuzz target of every package: .ci/fuzz.sh [TIME] [LONGTIME]
#
# TIME is how long a target runs (default $FUZZTIME, else 5s); LONGTIME the same for the SPARQL dialect and its evaluation (default
# $FUZZTIME_DIALECT, else 30s). All targets run, also after a failure. To fuzz one target for long:
# go test ./internal/sparql -run '^$' -fuzz '^FuzzPrint$' -fuzztime 1h
#
# When the time ends while a worker is busy, Go's fuzzer sometimes reports "context deadline exceeded" although no input failed. Only such a
# run is repeated.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-${FUZZTIME:-5s}}
long=${2:-${FUZZTIME_DIALECT:-30s}}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# fuzztime prints the time for a target.
fuzztime() { # package target
  case "$1 $2" in
    "./internal/sparql "*|"./internal/sparql/rewrite "* | "./internal/kg/embedded FuzzAgainstReference") echo "$long" ;;
    *) echo "$time" ;;
  esac
}

fuzz() { # package target
  for _ in 1 2 3; do
    if go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$(fuzztime "$1" "$2")" > "$out" 2>&1; then
      tail -n 1 "$out"
      return 0
    fi
    if ! grep -q 'context deadline exceeded' "$out" || grep -qE 'Failing input|panic:' "$out"; then
      break
    fi
    echo "the fuzzer ran into its own deadline; trying again"
  done
  cat "$out"
  return 1
}

n=0
failed=()
for file in $(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | sort); do
  for target in $(grep -ohE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //' | sort -u); do
    echo "$(dirname "$file") $target"
    fuzz "$(dirname "$file")" "$target" || failed+=("$(dirname "$file") $target")
    n=$((n + 1))
  done
done
echo "$n fuzz targets, ${#failed[@]} failed"
[ "$n" -gt 0 ]
if [ "${#failed[@]}" -gt 0 ]; then
  printf '  %s\n' "${failed[@]}"
  echo "commit the inputs under testdata/fuzz together with their fixes"
  exit 1
fi

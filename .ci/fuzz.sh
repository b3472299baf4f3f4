#!/usr/bin/env bash
# Searches for failing inputs with every fuzz target of every package: .ci/fuzz.sh [TIME] [LONGTIME]
#
# TIME is how long a target runs (default $FUZZTIME, otherwise 5s); LONGTIME is the same for the SPARQL dialect and its
# evaluation (default $FUZZTIME_DIALECT, otherwise 30s). All targets run, even after a failure. To fuzz one target for
# longer:
# go test ./internal/sparql -run '^$' -fuzz '^FuzzPrint$' -fuzztime 1h
#
# With FUZZ_BUDGET, such as 45m, all targets together run that long: each gets one share, and those with LONGTIME get
# four.
#
# When the time ends while a worker is busy, Go's fuzzer sometimes reports "context deadline exceeded" although no input
# failed. Only such a run is repeated.
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

# targets lists each target after its package.
targets() {
  local file
  for file in $(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | sort); do
    grep -ohE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed "s#^func #$(dirname "$file") #" | sort -u
  done
}

if [ -n "${FUZZ_BUDGET:-}" ]; then
  time=1 long=4
  shares=0
  while read -r package target; do shares=$((shares + $(fuzztime "$package" "$target"))); done < <(targets)
  case $FUZZ_BUDGET in
    *h) seconds=$((${FUZZ_BUDGET%h} * 3600)) ;;
    *m) seconds=$((${FUZZ_BUDGET%m} * 60)) ;;
    *s) seconds=${FUZZ_BUDGET%s} ;;
    *) echo "FUZZ_BUDGET: want a time such as 90s, 45m or 2h"; exit 2 ;;
  esac
  share=$((seconds / shares))
  [ "$share" -gt 0 ] || { echo "FUZZ_BUDGET: $FUZZ_BUDGET is less than a second for each of $shares shares"; exit 2; }
  time=${share}s long=$((4 * share))s
  echo "a budget of $FUZZ_BUDGET: $time for a target, $long for one of the dialect"
fi

n=0
failed=()
while read -r package target; do
  echo "$package $target"
  fuzz "$package" "$target" < /dev/null || failed+=("$package $target")
  n=$((n + 1))
done < <(targets)
echo "$n fuzz targets, ${#failed[@]} failed"
[ "$n" -gt 0 ]
if [ "${#failed[@]}" -gt 0 ]; then
  printf '  %s\n' "${failed[@]}"
  echo "commit the inputs under testdata/fuzz together with their fixes"
  exit 1
fi

#!/usr/bin/env bash
# Fuzzes every target of every package for a moment each: .ci/fuzz.sh [time, default 10s]
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
n=0
for file in $(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | sort); do
  for target in $(grep -ohE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //' | sort -u); do
    echo "$(dirname "$file") $target"
    go test "$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" | tail -n 3
    n=$((n + 1))
  done
done
echo "$n fuzz targets"
[ "$n" -gt 0 ]

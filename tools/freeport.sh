#!/usr/bin/env bash
# Prints a port of this machine on which nothing listens, and whose successor is free, too: freeport.sh
# A server that starts slowly still finds it free, because operating systems choose the ports of outgoing connections
# from 32768 (Linux) or 49152 upward.
set -euo pipefail
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
for _ in $(seq 100); do
  port=$((20000 + RANDOM % 12000))
  if ! listens "$port" && ! listens $((port + 1)); then
    echo "$port"
    exit 0
  fi
done
echo "no two free ports in a row between 20000 and 32000" >&2
exit 1

#!/usr/bin/env bash
# Searches for known vulnerabilities in what the program calls, with govulncheck. Exit status: 0 none; 1 some, or it
# failed; 3 the database cannot be reached, so nothing is known. GOVULNDB names another database, such as
# file:///copy/of/vuln.go.dev. The tool must first find a made-up vulnerability; otherwise its silence would mean
# nothing.
set -uo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd .ci/vuln && GOFLAGS=-mod=mod go build -o "$tmp/govulncheck" golang.org/x/vuln/cmd/govulncheck) || exit 1
fake=$tmp/fake
mkdir -p "$fake/index" "$fake/ID"
at=2026-01-01T00:00:00Z module=cgt.name/pkg/go-mwclient
echo "{\"modified\":\"$at\"}" > "$fake/index/db.json"
echo "[{\"path\":\"$module\",\"vulns\":[{\"id\":\"GO-2026-0001\",\"modified\":\"$at\"}]}]" > "$fake/index/modules.json"
echo "[{\"id\":\"GO-2026-0001\",\"modified\":\"$at\",\"aliases\":[]}]" > "$fake/index/vulns.json"
cat > "$fake/ID/GO-2026-0001.json" <<JSON
{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"$at","published":"$at","summary":"made up","details":"made up","affected":[{
 "package":{"name":"$module","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
 "ecosystem_specific":{"imports":[{"path":"$module","symbols":["New"]}]}}]}
JSON
if "$tmp/govulncheck" -db "file://$fake" ./cmd/spinachbot > "$tmp/out" 2>&1 || ! grep -q GO-2026-0001 "$tmp/out"; then
  echo "govulncheck does not find the made-up vulnerability:"; cat "$tmp/out"
  exit 1
fi
db=${GOVULNDB:-https://vuln.go.dev}
case $db in
  file://*) [ -s "${db#file://}/index/db.json" ] ;;
  *) curl -sfL --max-time 30 -o /dev/null "$db/index/db.json" || curl -sfL --max-time 30 -o /dev/null "$db/index/db.json.gz" ;;
esac || {
  echo "NOT CHECKED: the database of vulnerabilities cannot be reached at $db. Nothing is known about this tree; run .ci/vuln.sh where it can be." >&2
  exit 3
}
"$tmp/govulncheck" -db "$db" ./cmd/spinachbot || exit 1

#!/usr/bin/env bash
# Makes a release and uses it as a user would: checks sums, signature and bill of materials, unpacks it, and runs it.
# Usage: .ci/release.sh [PLATFORMS]
# The comma-separated platforms are built once, with the usual cache. Without them, all platforms are built twice and
# compared.
set -euo pipefail
cd "$(dirname "$0")/../tools/release"
export GOFLAGS=-mod=readonly
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export TMPDIR=$tmp # the folder of the builds, which the program must not contain
go vet ./...
go test ./...
ssh-keygen -q -t ed25519 -N '' -f "$tmp/key"
# A clone of the last commit with what has not been committed yet, since a release is made only from a commit.
git clone -q --no-local ../.. "$tmp/clone"
(cd ../.. && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tmp/clone")
(cd "$tmp/clone" && git add -A && { git diff --cached --quiet || git -c user.name=ci -c user.email=ci@localhost commit -qm 'ci: what is not committed'; })
if [ $# -gt 0 ]; then set -- -once -targets "$1"; fi
go run . -sources "$tmp/clone" -out "$tmp/dist" -key "$tmp/key" -signed "$@"
cd "$tmp/dist"
sha256sum -c --quiet SHA256SUMS
ssh-keygen -Y verify -n spinachbot-release -I spinachbot -f allowed_signers -s SHA256SUMS.sig < SHA256SUMS
tar -xzf spinachbot_*_linux_amd64.tar.gz
said=$(spinachbot_*_linux_amd64/spinachbot --version)
echo "$said"
commit=$(git -C "$tmp/clone" rev-parse HEAD)
[[ $said == *"${commit:0:12}"* ]] || { echo "the program does not name commit $commit"; exit 1; }
if grep -aq "$tmp" spinachbot_*_linux_amd64/spinachbot; then echo "the program contains the name of the folder in which it was built"; exit 1; fi
(cd spinachbot_*_linux_amd64 && ./spinachbot demo --once > page.txt && [ -s page.txt ])
echo "--- the bill of materials, against the schema of CycloneDX and against go version -m"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$tmp/npm" ajv@8.20.0 ajv-formats@3.0.1 ajv-formats-draft2019@1.6.1 @cyclonedx/cyclonedx-library@10.3.0
cat > "$tmp/npm/check.mjs" <<'JS'
import {readFileSync} from 'node:fs'
import {Validation, Spec} from '@cyclonedx/cyclonedx-library'
for (const file of process.argv.slice(2)) {
  const wrong = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(readFileSync(file, 'utf8'))
  if (wrong !== null) { console.error(file, JSON.stringify(wrong, null, 1)); process.exit(1) }
  console.log('valid:', file.split('/').pop())
}
JS
node "$tmp/npm/check.mjs" "$tmp"/dist/*.cdx.json
go version -m spinachbot_*_linux_amd64/spinachbot | awk '$1 == "dep" {print $2 "@" $3}' | sort > "$tmp/linked"
python3 -c 'import json, sys; print(*sorted(c["name"] + "@" + c["version"] for c in json.load(open(sys.argv[1]))["components"] if c["name"] != "std"), sep="\n")' \
  spinachbot_*_linux_amd64.cdx.json | LC_ALL=C sort > "$tmp/listed"
LC_ALL=C sort -o "$tmp/linked" "$tmp/linked"
diff "$tmp/linked" "$tmp/listed"
echo "--- the same from an archive of the sources, which has no history"
mkdir "$tmp/archive"
git -C "$tmp/clone" archive HEAD | tar -x -C "$tmp/archive"
(cd "$OLDPWD" && go run . -sources "$tmp/archive" -out "$tmp/dist2" -once -targets linux/amd64)
cmp "$tmp"/dist/spinachbot_*_linux_amd64.tar.gz "$tmp"/dist2/spinachbot_*_linux_amd64.tar.gz
ls -l "$tmp/dist"

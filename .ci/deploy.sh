#!/usr/bin/env bash
# Checks deploy/ as far as a machine without Docker, Kubernetes and a running systemd can. Needs root (or sudo), strace
# and systemd's tools.
#
#   - the unit: systemd-analyze verify, its exposure, and every system call of the real program against the unit's filter
#   - the image: the commands of the Dockerfile are run, and the program works in the image that they make: in a
#     read-only root file system, as a user without privileges, capabilities or a way to gain them
#   - the manifests: tools/manifests
#   - backup.sh: a backup of the program's data is made
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || exec sudo --preserve-env=PATH,HOME,GOFLAGS,GOPROXY bash "$0"
for tool in strace systemd-analyze unshare setpriv chroot; do
  command -v "$tool" > /dev/null || { echo "$tool is missing: apt-get install strace systemd util-linux coreutils"; exit 1; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"

echo "--- the image"
mkdir "$tmp/src" "$tmp/image"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tmp/src"
grep -q '^FROM scratch$' deploy/Dockerfile
grep -q '^COPY --from=build /image /$' deploy/Dockerfile
user=$(sed -n 's/^USER //p' deploy/Dockerfile)
entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' deploy/Dockerfile)
n=0
while read -r line; do
  (cd "$tmp/src" && bash -euc "${line//\/image/$tmp/image}")
  n=$((n + 1))
done < <(sed -n 's/^RUN //p' deploy/Dockerfile)
[ "$n" -ge 3 ] && [ -n "$user" ] && [ -x "$tmp/image$entry" ]
bin=$tmp/image$entry
file "$bin" 2> /dev/null || true
if ldd "$bin" > /dev/null 2>&1; then echo "the program is not static, and the image has no libraries"; exit 1; fi
[ -s "$tmp/image/etc/ssl/certs/ca-certificates.crt" ]
# boxed runs the program in the image as `docker run --read-only --cap-drop ALL --security-opt no-new-privileges` does.
boxed() {
  unshare --mount --pid --fork bash -euc '
    image=$1 data=$2 user=$3 entry=$4; shift 4
    mount --bind "$image" "$image"
    mount -o remount,bind,ro,nosuid,nodev "$image"
    mount --bind "$data" "$image/data"
    mount -t proc proc "$image/proc"
    cd "$image"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DATA_DIR=/data HOME=/data setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+sys_chroot,+setuid,+setgid \
      chroot --userspec="$user" --groups= "$image" "$entry" "$@"' sh "$tmp/image" "$tmp/volume" "$user" "$entry" "$@"
}
install -d -m 0700 -o "${user%:*}" -g "${user#*:}" "$tmp/volume"
mkdir -p "$tmp/image/proc"
boxed demo --once --data-dir /data > "$tmp/page"
grep -q '\[\[User:SpinachBot|SpinachBot\]\]' "$tmp/page"
boxed ledger list --data-dir /data --state posted > "$tmp/posted"
n=$(($(wc -l < "$tmp/posted") - 1)) # less the heading
echo "in the image, it answered $n requests"
[ "$n" -ge 10 ]
if boxed sandbox --addr 127.0.0.1:0 --data-dir /elsewhere > "$tmp/out" 2>&1; then echo "the root file system is writable"; exit 1; fi
grep -q 'cannot be written' "$tmp/out" || { cat "$tmp/out"; exit 1; }
[ -z "$(find "$tmp/volume" ! -user "${user%:*}" -o -perm /077)" ] || { echo "others can read its data:"; find "$tmp/volume" -perm /077; exit 1; }

echo "--- the manifests"
(cd tools/manifests && go vet ./... && go test ./... && go run . "$bin")

echo "--- backup.sh"
mkdir "$tmp/tool"
cp "$bin" deploy/backup.sh "$tmp/tool/"
echo "DATA_DIR=$tmp/volume" > "$tmp/tool/.env"
chmod 600 "$tmp/tool/.env"
mkdir "$tmp/tool/backups"
for i in $(seq 10 29); do touch "$tmp/tool/backups/202501${i}T000000Z.tar.gz"; done
"$tmp/tool/backup.sh"
[ "$(ls "$tmp/tool/backups" | wc -l)" = 14 ]
newest=$(ls -1 "$tmp/tool/backups" | tail -n 1)
[ "$(stat -c %a "$tmp/tool/backups/$newest")" = 600 ]
"$bin" restore --data-dir "$tmp/restored" "$tmp/tool/backups/$newest"
"$bin" ledger list --data-dir "$tmp/restored" --state posted | cmp - "$tmp/posted"

echo "--- the unit"
sed "s#/usr/local/bin/spinachbot#$bin#" deploy/spinachbot.service > "$tmp/spinachbot.service"
complaints=$(systemd-analyze verify "$tmp/spinachbot.service" 2>&1) && [ -z "$complaints" ] || { echo "$complaints"; exit 1; }
systemd-analyze security --offline=yes --threshold=15 --no-pager deploy/spinachbot.service > "$tmp/security" || { cat "$tmp/security"; exit 1; }
tail -n 1 "$tmp/security"
"$bin" run -h > "$tmp/help"
for flag in $(sed -n 's/^ExecStart=//p' deploy/spinachbot.service | grep -o -- '--[a-z-]*'); do
  grep -q -- "$flag\b" "$tmp/help" || { echo "the unit calls run with $flag, a flag that does not exist"; exit 1; }
done
# The system calls that the filter allows, by name; groups begin with @.
calls() {
  systemd-analyze syscall-filter --no-pager "$1" < /dev/null | sed -n 's/^    \([@a-z0-9_-]*\)$/\1/p' | while read -r c; do
    case $c in @*) calls "$c" ;; *) echo "$c" ;; esac
  done
}
calls @system-service | sort -u > "$tmp/allowed"
calls @privileged | sort -u > "$tmp/denied"
install -d -m 0700 -o nobody "$tmp/traced" # SQLite gives files away when it is root
(cd "$tmp" && strace -u nobody -f -qq -e trace=all -e signal=none -o "$tmp/trace" "$bin" demo --once --data-dir "$tmp/traced" > /dev/null 2>&1)
sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$tmp/trace" | sort -u > "$tmp/used"
# strace starts the program with execve.
grep -vxF execve "$tmp/used" | comm -23 - <(comm -23 "$tmp/allowed" "$tmp/denied") > "$tmp/refused"
[ ! -s "$tmp/refused" ] || { echo "the unit's filter refuses system calls of the program:"; cat "$tmp/refused"; exit 1; }
[ "$(wc -l < "$tmp/used")" -gt 20 ]
if grep -q 'PROT_WRITE|PROT_EXEC' "$tmp/trace"; then echo "MemoryDenyWriteExecute would stop the program"; exit 1; fi
echo "the unit's filter allows all $(wc -l < "$tmp/used") kinds of system calls"

#!/usr/bin/env bash
# Unpacks the MediaWiki of Debian's next release, without installing it, and prints the folder for start.sh:
#
#   export REALWIKI_MW=$(tools/realwiki/next.sh [FOLDER])     # FOLDER: kept and reused (default: in the temporary folder)
#   eval "$(tools/realwiki/start.sh)"
#
# It has DiscussionTools, Echo, Linter, VisualEditor, Thanks and AbuseFilter, which the packages of the older release lack.
# PHP and its modules are this machine's. Everything but the folder's name goes to standard error.
set -euo pipefail
exec 3>&1 1>&2
suite=trixie
dir=${1:-${TMPDIR:-/tmp}/spinachbot-mediawiki-$suite}
mkdir -p "$dir"
exec 9>"$dir/lock" && flock 9
if [ ! -f "$dir/mediawiki/api.php" ]; then
	work=$(mktemp -d "$dir/work.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	# The mirror that this machine uses, from a deb822 file or a one-line file.
	mirror=$({ cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true; } |
		sed -n -E 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+).*/\2/p' | grep -m 1 debian || true)
	[ -n "$mirror" ] || { echo "no mirror in /etc/apt: Debian's packages cannot be fetched"; exit 1; }
	mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/packages"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources.list"
	apt=(apt-get -q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$work/lists" -o "Dir::Cache::Archives=$work/archives" -o "Dir::Cache=$work"
		-o "APT::Sandbox::User=$(id -un)")
	"${apt[@]}" update
	(cd "$work/packages" && "${apt[@]}" download mediawiki mediawiki-classes)
	for p in "$work"/packages/*.deb; do dpkg-deb -x "$p" "$work/root"; done
	tree=$work/mediawiki
	cp -R "$work/root/usr/share/mediawiki" "$tree"
	# Debian's tree has links to /etc and /var; this one needs neither.
	(cd "$tree" && rm -rf LocalSettings.php config images extensions && mv extensions-core extensions && mkdir config images)
	mv "$tree" "$dir/mediawiki"
fi
echo "$dir/mediawiki" >&3

#!/usr/bin/env bash
# Sets up a real MediaWiki in its own directory, serves it on loopback, and prints its settings as KEY='value' lines.
#
#   eval "$(tools/realwiki/start.sh [DIR [PORT]])"     # DIR: a new temporary directory, PORT: a free one
#   tools/realwiki/stop.sh "$REALWIKI_DIR"             # ends the server; the directory stays
#
# REALWIKI_MW names a MediaWiki other than the installed one: see next.sh. Its discussion tools and skins are used if it
# has them. Needs Debian's packages (installed if missing, which needs root). Everything else goes to standard error.
# The wiki has the project namespace "Wikidata", SyntaxHighlight, ParserFunctions and SpamBlacklist; the users Admin
# (sysop), Alice, Bob and SpinachBot (bot), each with a bot password; the forum page and the templates in pages/. The
# file REALWIKI_DIR/readonly makes the wiki read-only; with REALWIKI_DIR/captcha it asks for a captcha (ConfirmEdit) at
# every edit.
set -euo pipefail
exec 3>&1 1>&2

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${1:-$(mktemp -d)}
port=${2:-}
mw=${REALWIKI_MW:-/usr/share/mediawiki} # next.sh unpacks a newer one
packages=(mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl php-curl python3-pygments)

missing=()
for p in "${packages[@]}"; do
	[ "$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null)" = "install ok installed" ] || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
if [ -f "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2>/dev/null; then
	echo "a wiki is already running in $dir: stop it with $here/stop.sh $dir"
	exit 1
fi
if [ -z "$port" ]; then
	port=$(bash "$here/../freeport.sh")
fi
secret() { head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
run() { MW_CONFIG_FILE="$dir/LocalSettings.php" php "$mw/maintenance/$1.php" "${@:2}"; }

mkdir -p "$dir/data"
# The installer refuses to run if a configuration already exists, and Debian's copy may have one.
php "$mw/maintenance/install.php" --confpath "$dir" --dbtype=sqlite --dbpath="$dir/data" --dbname=wiki --pass "$(secret)" \
	--server "http://127.0.0.1:$port" --scriptpath "" Wikidata Admin >"$dir/install.log" 2>&1 || { cat "$dir/install.log"; exit 1; }
cat >>"$dir/LocalSettings.php" <<PHP
\$wgMetaNamespace = "Wikidata";
\$wgMainCacheType = CACHE_DB;
\$wgSessionCacheType = CACHE_DB;
\$wgJobRunRate = 0;
\$wgLocaltimezone = "UTC";
\$wgExtraSignatureNamespaces = [ NS_PROJECT ];
\$wgReadOnlyFile = "$dir/readonly";
\$wgRateLimits = [];
\$wgEnableUploads = false;
\$wgUseInstantCommons = false;
\$wgNoFollowLinks = true;
\$wgGroupPermissions['sysop']['deleterevision'] = true;
\$wgGroupPermissions['sysop']['suppressrevision'] = true;
\$wgSpamRegex = [ '/refused-by-spam-regex/' ];
wfLoadExtension( 'SyntaxHighlight_GeSHi' );
wfLoadExtension( 'ParserFunctions' );
wfLoadExtension( 'SpamBlacklist' );
\$wgBlacklistSettings = [ 'spam' => [ 'files' => [] ] ];
if ( file_exists( "$dir/captcha" ) ) { // people and bots alike
	wfLoadExtension( 'ConfirmEdit' );
	\$wgCaptchaTriggers['edit'] = true;
	\$wgGroupPermissions['bot']['skipcaptcha'] = false;
}
PHP
notices= # the right to read one's notifications
if [ -n "${REALWIKI_MW:-}" ]; then
	cat >>"$dir/LocalSettings.php" <<-PHP
	foreach ( [ 'Linter', 'VisualEditor', 'Echo', 'DiscussionTools', 'Thanks', 'AbuseFilter' ] as \$e ) {
		wfLoadExtension( \$e );
	}
	wfLoadSkin( 'Vector' );
	wfLoadSkin( 'MinervaNeue' );
	PHP
	run update --quick >>"$dir/install.log" 2>&1 || { tail "$dir/install.log"; exit 1; }
	notices=,echo-read-notifications
fi

account() { # NAME GRANTS [createAndPromote options]: prints the bot password
	local name=$1 grants=$2 password
	shift 2
	password=$(secret)
	run createAndPromote --force "$@" "$name" "$(secret)" >&2
	run createBotPassword --appid posts --grants "$grants" "$name" "$password" >/dev/null # it prints the password
	echo "$password"
}
post=basic,editpage,createeditmovepage
admin=$(account Admin "$post,highvolume,editprotected,editinterface,blockusers,protect,delete,oversight,mergehistory" --sysop)
alice=$(account Alice "$post")
bob=$(account Bob "$post")
bot=$(account SpinachBot "$post,highvolume$notices" --bot)

for f in "$here"/pages/*.wikitext; do
	title=$(basename "$f" .wikitext)
	run edit --user Admin --summary "set up" "${title//__//}" <"$f" >/dev/null || exit 1
done

MW_CONFIG_FILE="$dir/LocalSettings.php" PHP_CLI_SERVER_WORKERS=4 setsid php -S "127.0.0.1:$port" -t "$mw" >"$dir/server.log" 2>&1 3>&- </dev/null &
echo $! >"$dir/pid"
for _ in $(seq 100); do
	php -r 'exit(@file_get_contents($argv[1]) === false ? 1 : 0);' "http://127.0.0.1:$port/api.php?action=query&meta=siteinfo&format=json" && break
	kill -0 "$(cat "$dir/pid")" 2>/dev/null || { cat "$dir/server.log"; exit 1; }
	sleep 0.1
done

cat >&3 <<OUT
REALWIKI_DIR='$dir'
REALWIKI_URL='http://127.0.0.1:$port'
WIKI_API='http://127.0.0.1:$port/api.php'
WIKI_USER='SpinachBot@posts'
WIKI_PASSWORD='$bot'
FORUM_PAGE='Wikidata:Request a query'
FORUM_ARCHIVE_PREFIX='Wikidata:Request a query/Archive/'
REALWIKI_ALICE_USER='Alice@posts'
REALWIKI_ALICE_PASSWORD='$alice'
REALWIKI_BOB_USER='Bob@posts'
REALWIKI_BOB_PASSWORD='$bob'
REALWIKI_ADMIN_USER='Admin@posts'
REALWIKI_ADMIN_PASSWORD='$admin'
OUT

#!/usr/bin/env bash
# Installs the SPARQL engines of the differential tests: Virtuoso (Debian), Oxigraph (npm) and Blazegraph (Maven
# Central). An engine that is already installed stays. The last two go into a cache folder outside the repository,
# $ENGINES_CACHE or ~/.cache/spinachbot-engines.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${ENGINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/spinachbot-engines}
mkdir -p "$cache"

packages=()
command -v virtuoso-t >/dev/null && command -v isql-vt >/dev/null || packages+=(virtuoso-opensource)
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
command -v javac >/dev/null || packages+=(default-jdk-headless)
command -v mvn >/dev/null || packages+=(maven)
if [ "${#packages[@]}" -gt 0 ]; then
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -q
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends "${packages[@]}"
fi

if ! cmp -s "$here/oxigraph/package-lock.json" "$cache/oxigraph/package-lock.json" || [ ! -d "$cache/oxigraph/node_modules/oxigraph" ]; then
  rm -rf "$cache/oxigraph"
  mkdir -p "$cache/oxigraph"
  cp "$here/oxigraph/package.json" "$here/oxigraph/package-lock.json" "$cache/oxigraph/"
  (cd "$cache/oxigraph" && npm ci --no-audit --no-fund --ignore-scripts)
fi

if [ ! -s "$cache/blazegraph/blazegraph-jar-2.1.5.jar" ]; then
  mkdir -p "$cache/blazegraph"
  mvn -q -B -f "$here/blazegraph/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DincludeArtifactIds=blazegraph-jar \
    -DoutputDirectory="$cache/blazegraph"
fi
mkdir -p "$cache/blazegraph/classes"
javac -nowarn -cp "$cache/blazegraph/blazegraph-jar-2.1.5.jar" -d "$cache/blazegraph/classes" "$here/blazegraph/Server.java"
echo "the engines are installed"

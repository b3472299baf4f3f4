#!/bin/sh
# Writes a backup of the bot in this folder into backups/ and keeps the newest fourteen. It may run while the bot is
# running.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p backups
./spinachbot backup --env-file .env "backups/$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
ls -1r backups/*.tar.gz | tail -n +15 | while read -r old; do rm -- "$old"; done

#!/usr/bin/env bash
# Fails with a sentence where Node.js is missing or too old for the tools of web/.
set -euo pipefail
need=20.19.0
have=$(node --version 2>/dev/null | sed 's/^v//') || have=""
if [ -z "$have" ]; then
	echo "Node.js is missing: the front end of the dashboard is checked with $need or newer"
	exit 1
fi
oldest=$(printf '%s\n%s\n' "$need" "$have" | sort -V | head -n 1)
[ "$oldest" = "$need" ] || { echo "Node.js $have is too old: the front end of the dashboard needs $need or newer"; exit 1; }

#!/usr/bin/env bash
# Prints where promtool is, which tests the alerts: that of PROMTOOL, that of the machine, or the one of Debian's package prometheus, which is
# unpacked into a cached folder and not installed, so that no service begins to run. Says why there is none, and fails, where it cannot be had.
# LM_CACHE moves the cache.
set -euo pipefail

no() { echo "$*"; exit 1; }
if [ -n "${PROMTOOL:-}" ]; then
	[ -x "$PROMTOOL" ] || no "PROMTOOL=$PROMTOOL is no program"
	echo "$PROMTOOL"
	exit 0
fi
if command -v promtool; then exit 0; fi

cache=${LM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifecycle-manager}/promtool
program=$cache/promtool
if [ -x "$program" ]; then echo "$program"; exit 0; fi
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || no "promtool is missing, and $tool to unpack it: install Prometheus, or say where promtool is by PROMTOOL=PATH"
done
mkdir -p "$cache"
unpacked=$(mktemp -d "$cache/package.XXXXXX")
trap 'rm -rf "$unpacked"' EXIT
# As another user apt-get cannot give the file away to its own, and says so at length.
(cd "$unpacked" && apt-get download -qq -o APT::Sandbox::User=root prometheus) >"$unpacked/log" 2>&1 ||
	no "promtool is missing, and package prometheus cannot be downloaded: $(tail -n 1 "$unpacked/log")"
dpkg-deb --extract "$unpacked"/prometheus_*.deb "$unpacked/root"
mv "$unpacked/root/usr/bin/promtool" "$program"
echo "$program"

#!/usr/bin/env bash
# Says why this machine cannot run the tests in a real browser, and fails; says nothing where it can.
set -euo pipefail

no() { echo "$*"; exit 1; }
[ "$(uname -s)" = Linux ] || no "the tests in a browser need Linux"
chromium=${CHROMIUM:-/usr/bin/chromium}
[ -x "$chromium" ] || no "$chromium is missing: apt-get install chromium, or say where it is by CHROMIUM=PATH"
command -v node >/dev/null && command -v npm >/dev/null || no "Node.js is missing: apt-get install nodejs npm"
reason=$("$(dirname "${BASH_SOURCE[0]}")/../node-version.sh") || no "$reason"
for program in openssl setpriv; do
	command -v "$program" >/dev/null || no "$program is missing: apt-get install openssl util-linux"
done

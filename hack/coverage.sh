#!/usr/bin/env bash
# Fails when the unit tests of a package reach less than the given percentage of its statements.
# Usage: coverage.sh <percentage> <package>...
set -euo pipefail

minimum=$1
shift
${GO:-go} test -count=1 -cover "$@" | awk -v minimum="$minimum" '
	{ print }
	!match($0, /coverage: [0-9.]+%/) { printf "%s: no coverage: it has no tests, or they fail\n", $0; bad = 1; next }
	substr($0, RSTART + 10, RLENGTH - 11) + 0 < minimum { printf "%s: below %s %%: add tests\n", $2, minimum; bad = 1 }
	END { exit bad }'

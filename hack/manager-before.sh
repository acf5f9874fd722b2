#!/usr/bin/env bash
# Builds the manager of the version before and prints where it is: of the newest release, or of the commit below while there is none. Prints
# nothing, and says why on standard error, where the checkout does not have that commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The last version without claims on runtimes.
default=1e66b02c49f8523656f6327e1a24b986097c1eef

before=${BEFORE:-$(git describe --tags --abbrev=0 --match='v[0-9]*' HEAD^ 2>/dev/null || echo "$default")}
if ! commit=$(git rev-parse --quiet --verify "$before^{commit}" 2>/dev/null); then
	echo "the version before cannot be built: this checkout does not have the commit $before" >&2
	exit 0
fi
program=$PWD/dist/manager-before-${commit:0:12}
if [ ! -x "$program" ]; then
	source=$(mktemp -d)
	trap 'rm -rf "$source"' EXIT
	git archive "$commit" | tar -x -C "$source"
	(cd "$source" && "${GO:-go}" build -buildvcs=false -o "$program" ./cmd) >&2
fi
echo "$program"

#!/usr/bin/env bash
# Builds two releases for this machine's platform and prints where they are: RELEASE_BEFORE, of the newest tag or of the commit below while
# there is none, and RELEASE, of the commit that is checked out. What is built is kept, by its commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The registry of the modules, as pods of tests/node reach it. Commits that do not know the parameter yet ignore it.
modules=http://10.199.0.2:8443

# The last version without KymaReleases.
default=6da4d1231b9d1f60d908b66f95717f8e1a4d5869

before=${BEFORE:-$(git describe --tags --abbrev=0 --match='v[0-9]*' HEAD^ 2>/dev/null || echo "$default")}

build() { # variable commit version
	local commit out source
	commit=$(git rev-parse --verify "$2^{commit}")
	out=$PWD/dist/releases/${commit:0:12}
	if [ ! -e "$out/SHA256SUMS" ]; then
		source=$(mktemp -d)
		trap 'git worktree remove --force "'"$source"'"' EXIT
		git worktree add --quiet --detach "$source" "$commit"
		make -C "$source" release VERSION="$3" OUT="$out" REGISTRY="$modules" PLATFORMS="$(go env GOOS)/$(go env GOARCH)" >&2
		git worktree remove --force "$source"
		trap - EXIT
	fi
	echo "$1=$out"
}

build RELEASE_BEFORE "$before" 0.0.1
build RELEASE HEAD 0.0.2

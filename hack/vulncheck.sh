#!/usr/bin/env bash
# Looks for known vulnerabilities in what the programs link, by govulncheck at the version below, which is built outside the repository.
# Usage: vulncheck.sh [database] [packages]. The database is an address or a folder in the layout of the Go vulnerability database; empty
# means the public one, which has to be reachable.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=v1.1.4 # the newest whose own dependencies the module proxy has
database=${1:-}
[ ! -d "$database" ] || database=file://$(realpath "$database")
packages=("${@:2}")
[ ${#packages[@]} -gt 0 ] || packages=(./cmd ./cmd/kyma)

bin=${LM_CACHE:-$HOME/.cache/lifecycle-manager}/govulncheck-$version
[ -x "$bin/govulncheck" ] || GOBIN=$bin GOFLAGS='' go install "golang.org/x/vuln/cmd/govulncheck@$version"

result=0
for package in "${packages[@]}"; do
	echo "== $package"
	"$bin/govulncheck" ${database:+-db "$database"} -show verbose "$package" || result=$?
done
exit "$result"

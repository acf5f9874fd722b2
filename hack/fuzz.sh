#!/usr/bin/env bash
# Fuzzes every target of the repository, one after the other. What was found stays in testdata/fuzz of its package, to be committed.
# Usage: fuzz.sh <time for each> [pattern of targets]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-10s} pattern=${2:-.} count=0
while IFS=: read -r file line; do
	target=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<<"$line")
	[[ $target =~ $pattern ]] || continue
	echo "== $(dirname "$file") $target"
	go test -run='^$' -fuzz="^$target\$" -fuzztime="$time" "./$(dirname "$file")"
	count=$((count + 1))
done < <(grep -r --include='*_test.go' '^func Fuzz' api cmd internal pkg tests | sort)
echo "$count targets fuzzed for $time each"

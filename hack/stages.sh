#!/usr/bin/env bash
# Makes the given targets one after the other, stops at the first that fails, and says how long each took.
set -uo pipefail

summary=""
total=$SECONDS
result=0
for target in "$@"; do
	echo "== $target"
	start=$SECONDS
	"${MAKE:-make}" "$target"
	result=$?
	outcome=ok
	[ "$result" -eq 0 ] || outcome=FAILED
	summary+=$(printf '%-20s %6d s  %s' "$target" $((SECONDS - start)) "$outcome")$'\n'
	[ "$result" -eq 0 ] || break
done
printf '\n%s%-20s %6d s\n' "$summary" total $((SECONDS - total))
exit "$result"

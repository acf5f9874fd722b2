#!/usr/bin/env bash
# Builds every kustomization under config/ and fails when one does not build. Components are built by what uses them.
# Usage: kustomize-builds.sh <kubectl>
set -euo pipefail

kubectl=$1
count=0
while read -r file; do
	if grep -q '^kind: Component$' "$file"; then
		grep -rqF "components/$(basename "$(dirname "$file")")" config --include=kustomization.yaml ||
			{ echo "$(dirname "$file"): no kustomization uses this component, so nothing shows that it builds"; exit 1; }
		continue
	fi
	"$kubectl" kustomize "$(dirname "$file")" >/dev/null || { echo "$(dirname "$file") does not build"; exit 1; }
	count=$((count + 1))
done < <(find config -name kustomization.yaml | sort)
echo "$count kustomizations build"

#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and kwok from Go modules
# (go.mod beside this file) into a cached folder and prints that folder; progress goes to standard error.
#
# The folder is named by what goes in (go.mod, go.sum, this script, the Go version), so it is shared between
# checkouts, nothing is built twice and nothing goes stale. A program that KUBEBUILDER_ASSETS already holds is
# used from there. LM_CACHE moves the cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

assets=${KUBEBUILDER_ASSETS:-}
cache=${LM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifecycle-manager}/controlplane
key=$({ cat go.mod go.sum build.sh; go version; echo "$assets"; } | sha256sum | cut -c1-16)
out=$cache/$key

programs="etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok"
package() {
	case $1 in
	etcd) echo go.etcd.io/etcd/server/v3 ;;
	kwok) echo sigs.k8s.io/kwok/cmd/kwok ;;
	*) echo "k8s.io/kubernetes/cmd/$1" ;;
	esac
}
complete() {
	for p in $programs; do [ -x "$out/$p" ] || return 1; done
	[ -d "$out/stages" ]
}
say() { echo "controlplane: $*" >&2; }

if complete; then echo "$out"; exit 0; fi
mkdir -p "$out"
exec 9>"$cache/$key.lock"
flock -n 9 || { say "another build is running, waiting for it"; flock 9; }

kube=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${kube#v1.}; minor=${minor%%.*}
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=$kube -X $version.gitMajor=1 -X $version.gitMinor=$minor -X $version.gitTreeState=clean"
begin=$SECONDS n=0
for p in $programs; do
	n=$((n + 1))
	[ -x "$out/$p" ] && continue
	if [ -n "$assets" ] && [ -x "$assets/$p" ]; then
		ln -sf "$assets/$p" "$out/$p"
		say "($n/6) $p: taken from KUBEBUILDER_ASSETS"
		continue
	fi
	say "($n/6) building $p (a cold build of all six takes about 10 minutes on 2 cores)"
	start=$SECONDS
	CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$out/$p.tmp.$$" "$(package "$p")"
	mv "$out/$p.tmp.$$" "$out/$p"
	say "($n/6) $p: $((SECONDS - start)) s"
done

# kwok does nothing without stages; its module ships the ones that make nodes and pods ready at once.
if [ ! -d "$out/stages" ]; then
	kwok=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
	rm -rf "$out/stages.tmp" && mkdir "$out/stages.tmp"
	for dir in node/fast node/heartbeat pod/fast; do
		for file in "$kwok/$dir"/*.yaml; do
			[ "$(basename "$file")" = kustomization.yaml ] || install -m 0644 "$file" "$out/stages.tmp/${dir//\//-}-$(basename "$file")"
		done
	done
	mv "$out/stages.tmp" "$out/stages"
fi
say "ready in $((SECONDS - begin)) s: $out"
echo "$out"

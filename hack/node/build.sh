#!/usr/bin/env bash
# Builds what a node with real pods needs beyond the control plane (go.mod in programs): kubelet, kube-proxy, and the network plugins
# bridge, host-local, loopback and portmap, into a cached folder, and prints that folder; progress goes to standard error. Only the
# tests in tests/node ask for them.
#
# The folder is named by what goes in, as that of the control planes is. LM_CACHE moves the cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/programs"

cache=${LM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifecycle-manager}/node
key=$({ cat go.mod go.sum ../build.sh; go version; } | sha256sum | cut -c1-16)
out=$cache/$key

programs="bridge host-local loopback portmap kube-proxy kubelet"
plugins=github.com/containernetworking/plugins/plugins
package() {
	case $1 in
	bridge | loopback) echo "$plugins/main/$1" ;;
	host-local) echo "$plugins/ipam/$1" ;;
	portmap) echo "$plugins/meta/$1" ;;
	*) echo "k8s.io/kubernetes/cmd/$1" ;;
	esac
}
complete() {
	for p in $programs; do [ -x "$out/$p" ] || return 1; done
}
say() { echo "node: $*" >&2; }

if complete; then echo "$out"; exit 0; fi
mkdir -p "$out"
exec 9>"$cache/$key.lock"
flock -n 9 || { say "another build is running, waiting for it"; flock 9; }

kube=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
other=$(cd ../../controlplane && go list -m -f '{{.Version}}' k8s.io/kubernetes)
[ "$kube" = "$other" ] || { say "Kubernetes is $kube here and $other in hack/controlplane: make the two go.mod agree"; exit 1; }
minor=${kube#v1.}; minor=${minor%%.*}
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=$kube -X $version.gitMajor=1 -X $version.gitMinor=$minor -X $version.gitTreeState=clean"
begin=$SECONDS n=0
for p in $programs; do
	n=$((n + 1))
	[ -x "$out/$p" ] && continue
	say "($n/6) building $p"
	start=$SECONDS
	CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$out/$p.tmp.$$" "$(package "$p")"
	mv "$out/$p.tmp.$$" "$out/$p"
	say "($n/6) $p: $((SECONDS - start)) s"
done
say "ready in $((SECONDS - begin)) s: $out"
echo "$out"

#!/usr/bin/env bash
# Builds the images that tests/node runs, without Docker, into the given folder: the manager, two versions of each sample operator, and
# what holds pods together. The names lead to no registry that a node reaches, so they run as loaded or not at all.
set -euo pipefail

out=$(realpath -m "${1:?usage: images.sh <folder>}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$out/build"
export CGO_ENABLED=0 GOOS=linux
arch=$(go env GOARCH)

go build -trimpath -ldflags='-s -w' -o "$out/build/" ./hack/image ./hack/node/pause ./samples/beacon ./samples/greeter
pack() { # program image archive
	"$out/build/image" -arch="$arch" -binary="$out/build/$1" -tag="$2" -output="$out/$3.tar"
}
pack pause registry.k8s.io/pause:3.10 pause
for version in 1.0.0 1.1.0; do
	for operator in beacon greeter; do
		pack "$operator" "samples.kyma-project.io/$operator:$version" "$operator-$version"
	done
done

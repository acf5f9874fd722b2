// Package node answers: does the operator work where pods are real?
//
// The suite runs one or two nodes (hack/node): etcd, the control plane, kubelet, kube-proxy, containerd and runc, each node in namespaces
// of its own. It builds the image by `make image`, deploys by `make deploy` with two replicas, and goes through the life of an
// installation: install, upgrade, an image that does not exist, the death of the leader, a power cut, and removal until nothing is left.
//
// It needs root and what hack/node/check.sh asks for, so it runs only when it is asked to: `make e2e-node`, or `make e2e-node-short`.
package node

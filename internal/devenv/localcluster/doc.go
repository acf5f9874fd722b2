// Package localcluster starts Kubernetes control planes and registries on this machine, and ends them.
//
// A control plane is real: etcd and kube-apiserver, and on request kube-controller-manager, kube-scheduler and kwok,
// which plays the node and the pods. Everything listens on loopback, on free ports, and keeps its data in a scratch
// folder, in memory where the machine has room for that. Programs come from hack/controlplane/build.sh.
//
// Nothing outlives its use. Stop ends every process and deletes the scratch folder. When the program that called Start dies without Stop,
// even by SIGKILL, the kernel ends its children (Linux), and the next Start on this machine removes the scratch folder together with any
// process that still runs out of it.
//
// Control planes need a Unix: neither the programs nor envtest run on Windows, where the package has registries only.
//
// It does not keep data between runs, run containers, listen on anything but loopback, download programs, or end a process that it did not
// start.
package localcluster

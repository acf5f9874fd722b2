#!/usr/bin/env bash
# Says why this machine cannot run tests/node, and fails; says nothing where it can.
set -euo pipefail

no() { echo "$*"; exit 1; }
[ "$(uname -s)" = Linux ] || no "nodes need Linux"
[ "$(id -u)" = 0 ] || no "nodes need root: for namespaces, mounts and control groups"
for program in containerd ctr runc iptables ip; do
	command -v "$program" >/dev/null || no "$program is missing: apt-get install containerd runc iptables iproute2"
done
[ -d /sys/fs/cgroup ] && [ -w /sys/fs/cgroup ] || no "control groups cannot be written: /sys/fs/cgroup"
grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null || no "the kernel has no overlay file system"
unshare --mount --pid --net --fork true 2>/dev/null || no "namespaces cannot be made here: no CAP_SYS_ADMIN"

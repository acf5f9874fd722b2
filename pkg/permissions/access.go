package permissions

import (
	"path"
	"slices"
	"strings"
)

// Access is something that a workload gets beyond its own containers, or opens to others.
type Access struct {
	// What it is: privileged, hostPath, capability, ...
	What string `json:"what"`
	// Detail is the path, the capability, the name.
	Detail string `json:"detail,omitempty"`
	// Writes means that a path can be written.
	Writes bool `json:"writes,omitempty"`
	// EveryNode means that it holds on every node of the cluster.
	EveryNode bool `json:"everyNode,omitempty"`
	// Carrier is the object that has it: "DaemonSet ns/name". It is empty where it does not matter which one.
	Carrier string `json:"carrier,omitempty"`
}

// The kinds of access.
const (
	accessPrivileged     = "privileged"
	accessHostProcess    = "hostProcess"
	accessHostPID        = "hostPID"
	accessHostNetwork    = "hostNetwork"
	accessHostIPC        = "hostIPC"
	accessHostPath       = "hostPath"
	accessHostPort       = "hostPort"
	accessCapability     = "capability"
	accessProcMount      = "procMount"
	accessSeccomp        = "seccomp"
	accessAppArmor       = "appArmor"
	accessSELinux        = "seLinux"
	accessSysctl         = "sysctl"
	accessEscalation     = "allowPrivilegeEscalation"
	accessRoot           = "root"
	accessShareProcesses = "shareProcessNamespace"
	accessGitRepo        = "gitRepo"
	accessNodeName       = "nodeName"
	accessControlPlane   = "controlPlane"
	accessAnyNode        = "anyNode"
	accessPriority       = "priorityClass"
	accessAccount        = "serviceAccount"
	accessSecret         = "secret"
	accessToken          = "token"
	accessLoadBalancer   = "loadBalancer"
	accessNodePort       = "nodePort"
	accessExternalIP     = "externalIP"
	accessIngress        = "ingress"
	accessGateway        = "gateway"
)

// accessText is how grave an access is, on some node and on every node, and what a report says about it. {node} is the node or every node,
// {detail} the detail.
type accessText struct {
	category            Category
	severity, everyNode Severity
	sentence            string
}

var accessTexts = map[string]accessText{
	accessPrivileged:     {CategoryWorkload, High, Critical, "Runs privileged containers, with full control of {node}"},
	accessHostProcess:    {CategoryWorkload, High, Critical, "Runs as a Windows process of {node}, not in a container"},
	accessHostPID:        {CategoryWorkload, High, High, "Sees and may stop all processes of {node}"},
	accessHostNetwork:    {CategoryWorkload, High, High, "Uses the network of {node}, past all NetworkPolicies"},
	accessHostIPC:        {CategoryWorkload, Medium, Medium, "Shares memory with the processes of {node}"},
	accessHostPort:       {CategoryWorkload, Low, Low, "Opens port {detail} of {node}"},
	accessProcMount:      {CategoryWorkload, High, High, "Sees the whole /proc of {node} in its containers"},
	accessSeccomp:        {CategoryWorkload, Medium, Medium, "Runs containers without a seccomp filter of system calls"},
	accessAppArmor:       {CategoryWorkload, Medium, Medium, "Runs containers without AppArmor"},
	accessSELinux:        {CategoryWorkload, Medium, Medium, "Runs containers with the SELinux label {detail}"},
	accessSysctl:         {CategoryWorkload, Medium, Medium, "Changes the kernel setting {detail} of {node}"},
	accessEscalation:     {CategoryWorkload, Low, Low, "Lets processes in its containers gain privileges"},
	accessRoot:           {CategoryWorkload, Low, Low, "Runs containers as root"},
	accessShareProcesses: {CategoryWorkload, Low, Low, "Lets the containers of a Pod see each other's processes"},
	accessGitRepo:        {CategoryWorkload, High, High, "Lets {node} clone a Git repository as root"},
	accessNodeName:       {CategoryWorkload, Medium, Medium, "Runs on the node {detail}, past the scheduler"},
	accessControlPlane:   {CategoryWorkload, Low, Low, "May run on the nodes of the control plane"},
	accessAnyNode:        {CategoryWorkload, Low, Low, "May run on every node, regardless of taints"},
	accessPriority:       {CategoryWorkload, Low, Low, "Displaces other Pods when nodes are full, with priority class {detail}"},
	accessAccount: {
		CategoryWorkload, Medium, Medium, "Runs as ServiceAccount {detail}, which is not part of the module, and with its rights",
	},
	accessSecret:       {CategoryWorkload, Low, Low, "Reads the Secret {detail}, which is not part of the module"},
	accessToken:        {CategoryToken, Low, Low, "Gets a token with which it can log in at {detail}"},
	accessLoadBalancer: {CategoryExposure, Medium, Medium, "Can be reached through a load balancer, possibly from outside the cluster"},
	accessNodePort:     {CategoryExposure, Medium, Medium, "Can be reached at a port of every node"},
	accessExternalIP:   {CategoryExposure, High, High, "Takes over the traffic to the address {detail}"},
	accessIngress:      {CategoryExposure, Low, Low, "Can be reached through an Ingress, at {detail}"},
	accessGateway:      {CategoryExposure, Medium, Medium, "Opens a gateway for traffic from outside"},
}

// key identifies the access.
func (a *Access) key() string { return joinKey(a.kind(), escapes.Replace(a.Carrier)) }

// kind identifies the access without its carrier: what moves to another workload is no new access.
func (a *Access) kind() string {
	mode := ""
	if a.Writes {
		mode = "write"
	}
	if a.EveryNode {
		mode += "@every"
	}
	return joinKey("access", a.What, escapes.Replace(a.Detail), mode)
}

// text returns category, severity and sentence.
func (a *Access) text() (Category, Severity, string) {
	text := accessTexts[a.What]
	switch a.What {
	case accessHostPath:
		text = a.hostPathText()
	case accessCapability:
		text = a.capabilityText()
	}
	severity, node := text.severity, "its node"
	if a.EveryNode {
		severity, node = text.everyNode, "every node"
	}
	sentence := strings.NewReplacer("{node}", node, "{detail}", short(a.Detail)).Replace(text.sentence)
	if a.Carrier != "" {
		sentence += " (" + shortCarrier(a.Carrier) + ")"
	}
	return text.category, severity, sentence + "."
}

func shortCarrier(carrier string) string {
	kind, name, _ := strings.Cut(carrier, " ")
	return kind + " " + short(name)
}

// finding describes the access. rule is where it comes from.
func (a *Access) finding(rule string) Finding {
	category, severity, sentence := a.text()
	return Finding{Key: a.key(), Category: category, Severity: severity, Sentence: sentence, Rule: rule, Access: a}
}

// secretPaths are files of a node with which others can be impersonated, and the sockets by which containers are started.
var secretPaths = []string{
	"/etc/kubernetes", "/etc/shadow", "/home", "/proc/1", "/root", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
	"/run/docker.sock",
	"/var/lib/containerd", "/var/lib/docker", "/var/lib/etcd", "/var/lib/kubelet", "/var/run/containerd/containerd.sock",
	"/var/run/crio/crio.sock", "/var/run/docker.sock",
}

// controlPaths are folders of a node whose files are run or obeyed by the node itself.
var controlPaths = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/opt/cni", "/proc", "/sbin", "/sys", "/usr", "/var/spool/cron",
}

// pluginFolder is where the kubelet keeps a folder for each driver, which gives control over nothing else.
const pluginFolder = "/var/lib/kubelet/plugins/"

func (a *Access) hostPathText() accessText {
	touches := func(other string) bool { return below(a.Detail, other) || below(other, a.Detail) }
	sensitive := strings.HasSuffix(a.Detail, ".sock") || slices.ContainsFunc(secretPaths, touches) ||
		a.Writes && slices.ContainsFunc(controlPaths, touches)
	what, verbs := short(a.Detail), "read"
	if a.Detail == "/" {
		what = "all files"
	}
	if a.Writes {
		verbs = "read and change"
	}
	text := accessText{CategoryWorkload, Medium, Medium, "May " + verbs + " " + what + " of {node}"}
	if sensitive && !strings.HasPrefix(a.Detail, pluginFolder) {
		text.severity, text.everyNode = High, High
		if a.Writes {
			text.everyNode = Critical
		}
	}
	return text
}

// below reports whether a path is a folder, or in it.
func below(file, folder string) bool {
	return file == folder || folder == "/" || strings.HasPrefix(file, folder+"/")
}

// capabilities that give more than a sandboxed process should have; others are Medium.
var capabilities = map[string]struct {
	severity Severity
	meaning  string
}{
	"ALL":              {High, "every privilege of root on {node}"},
	"SYS_ADMIN":        {High, "almost all of root on {node}"},
	"SYS_MODULE":       {High, "load kernel modules on {node}"},
	"SYS_PTRACE":       {High, "read and change other processes"},
	"SYS_RAWIO":        {High, "access the devices of {node}"},
	"SYS_BOOT":         {High, "restart {node}"},
	"DAC_READ_SEARCH":  {High, "read files past their permissions"},
	"BPF":              {High, "load programs into the kernel of {node}"},
	"MAC_ADMIN":        {High, "change the mandatory access control of {node}"},
	"MAC_OVERRIDE":     {High, "pass the mandatory access control of {node}"},
	"NET_ADMIN":        {Medium, "change network settings"},
	"NET_RAW":          {Low, "send any network packet"},
	"NET_BIND_SERVICE": {Info, "open ports below 1024"},
	"SYS_TIME":         {Medium, "set the clock of {node}"},
	"CHOWN":            {Info, "change the owners of files"},
	"DAC_OVERRIDE":     {Low, "write files past their permissions"},
	"FOWNER":           {Info, "change permissions of files"},
	"FSETID":           {Info, "keep special bits of files"},
	"KILL":             {Info, "stop processes of other users"},
	"SETGID":           {Info, "change its group"},
	"SETUID":           {Info, "change its user"},
	"SETPCAP":          {Info, "pass on capabilities"},
	"SETFCAP":          {Low, "give capabilities to files"},
	"MKNOD":            {Low, "make device files"},
	"AUDIT_WRITE":      {Info, "write to the audit log of the kernel"},
	"SYS_CHROOT":       {Info, "change its root folder"},
	"IPC_LOCK":         {Low, "keep memory from being swapped out"},
	"SYS_NICE":         {Low, "raise the priority of processes"},
	"SYS_RESOURCE":     {Medium, "exceed limits of resources"},
	"PERFMON":          {Medium, "observe the performance of {node}"},
	"SYSLOG":           {Medium, "read the kernel log of {node}"},
}

func (a *Access) capabilityText() accessText {
	text := accessText{CategoryWorkload, Medium, Medium, "Has the Linux capability {detail}"}
	if known, ok := capabilities[a.Detail]; ok {
		text.severity, text.everyNode = known.severity, known.severity
		text.sentence += ": " + known.meaning
	}
	if a.Detail == "ALL" || a.Detail == "SYS_ADMIN" {
		text.everyNode = Critical
	}
	return text
}

// covers reports whether an access includes another one of the same workload.
func (a *Access) covers(other *Access) bool {
	if other.EveryNode && !a.EveryNode {
		return false
	}
	switch {
	case a.What == accessPrivileged && other.What != accessPrivileged:
		return slices.Contains([]string{
			accessCapability, accessProcMount, accessSeccomp, accessAppArmor, accessSELinux, accessEscalation,
		}, other.What)
	case a.What != other.What:
		return a.What == accessAnyNode && other.What == accessControlPlane
	case a.What == accessHostPath:
		return below(path.Clean(other.Detail), path.Clean(a.Detail)) && (a.Writes || !other.Writes)
	case a.What == accessCapability:
		return a.Detail == "ALL" || a.Detail == other.Detail
	default:
		return a.Detail == other.Detail
	}
}

// owner identifies a workload without its kind: one that becomes a StatefulSet is the same.
func (a *Access) owner() string {
	_, name, _ := strings.Cut(a.Carrier, " ")
	return name
}

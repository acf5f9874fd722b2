//go:build unix

package playground

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	kubeconfigVariable        = "KUBECONFIG"
	runtimeKubeconfigVariable = "RUNTIME_KUBECONFIG"
	// cacheName is the folder for the cache of kubectl.
	cacheName = "kubectl-cache"
	// runtimeKubectl is the kubectl of the commands below for the runtime.
	runtimeKubectl = `kubectl --kubeconfig "$` + runtimeKubeconfigVariable + `"`
	untilReady     = "kubectl wait --for=condition=Ready --timeout=3m kyma/" + remoteKyma
	// readContent requests from the content server with its own token. kubectl can do that too, so no other program is needed.
	readContent = `kubectl get --server="$` + contentVariable + `" --insecure-skip-tls-verify ` +
		`--token="$(kubectl create token content-reader)" --raw `
)

// try is a suggestion for newcomers.
type try struct {
	title    string
	commands []string
}

// tries are for pasting: each command works by itself once the env file was sourced.
var tries = []try{
	{"Watch the Kymas (in its own terminal, and continue in another)", []string{
		"kubectl get kymas --watch",
	}},
	{"Enable a module: ledger", []string{
		`kubectl patch kyma demo --type=json --patch='[{"op":"add","path":"/spec/modules/-","value":{"name":"ledger"}}]'`,
		untilReady,
		runtimeKubectl + " get accounts",
	}},
	{"Follow another channel: every module moves to 1.1.0", []string{
		`kubectl patch kyma demo --type=merge --patch='{"spec":{"channel":"fast"}}'`,
		untilReady,
		`kubectl get kyma demo -o custom-columns='MODULE:.status.modules[*].name,VERSION:.status.modules[*].version'`,
		runtimeKubectl + " get deployment greeter --namespace greeter-system -o wide",
	}},
	{"Delete an object and see it return", []string{
		runtimeKubectl + " delete service notes",
		runtimeKubectl + " wait --for=create --timeout=3m service/notes",
	}},
	{"Break an object, read the condition, and repair it: no node has the label that these pods ask for", []string{
		runtimeKubectl + ` patch deployment greeter --namespace greeter-system ` +
			`--patch='{"spec":{"template":{"spec":{"nodeSelector":{"disk":"golden"}}}}}'`,
		"kubectl wait --for=condition=Ready=false --timeout=3m kyma/demo",
		"kubectl get kyma demo -o wide",
		runtimeKubectl + ` patch deployment greeter --namespace greeter-system ` +
			`--patch='{"spec":{"template":{"spec":{"nodeSelector":null}}}}'`,
		untilReady,
	}},
	{"Install something without a Kyma: a Helm chart; and what else there is in $" + samplesVariable, []string{
		`kubectl apply --filename="$` + samplesVariable + `/oci-helm-chart.yaml"`,
		"kubectl wait --for=condition=Ready --timeout=3m manifest/oci-helm-chart",
		runtimeKubectl + " get deployments --namespace harbour",
	}},
	{"Read its rendered content (needs a permission), and remove it", []string{
		readContent + "/v1/manifests/kcp-system/oci-helm-chart",
		readContent + "/v1/manifests/kcp-system/oci-helm-chart/lantern/lantern/values.yaml",
		"kubectl delete manifest oci-helm-chart",
	}},
	{"Keep a version that asks for more until you agree: warden 1.1.0 wants to read every Secret", []string{
		addWarden(remoteKyma),
		untilReady,
		"kyma upgrade " + moduleWarden + " --to " + channelFast + " --kyma " + remoteKyma + " --wait=false",
		`kubectl wait --for=jsonpath='{.status.modules[?(@.name=="` + moduleWarden + `")].pending.version}'=` + newer +
			" --timeout=3m kyma/" + remoteKyma,
		"kyma status --kyma " + remoteKyma,
		"kyma permissions " + moduleWarden + " --kyma " + remoteKyma + ` --registry "$` + registryVariable + `"`,
		"kyma approve " + moduleWarden + " --kyma " + remoteKyma + " --yes --wait",
	}},
	{"Add a module that needs another one: courier waits for warden", []string{
		`kubectl patch kyma ` + localKyma + ` --type=json --patch='[{"op":"add","path":"/spec/modules/-","value":{"name":"` +
			moduleCourier + `"}}]'`,
		`kubectl wait --for=jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'=RequirementMissing --timeout=3m kyma/` + localKyma,
		"kyma requirements " + moduleCourier + " --kyma " + localKyma + " || true",
		addWarden(localKyma),
		"kubectl wait --for=condition=Ready --timeout=3m kyma/" + localKyma,
	}},
	{"Release a version that never becomes available to three clusters, and see it stop after the first", []string{
		`kubectl apply --filename="$` + samplesVariable + `/rollout.yaml"`,
		addCharted(remoteKyma),
		addCharted(localKyma),
		"kubectl wait --for=condition=Ready --timeout=5m kyma/" + canaryName + " kyma/" + remoteKyma + " kyma/" + localKyma,
		"kyma release set " + moduleCharted + " " + channelRegular + "=" + stuck,
		"kubectl wait --for=condition=Halted --timeout=3m modulerollout/" + moduleCharted,
		"kubectl get modulerollouts",
		"kyma rollout status " + moduleCharted + " || true",
		"kyma release status " + moduleCharted,
	}},
	{"Take it back: in the cluster that has it, and then in the channel, which ends the rollout", []string{
		"kyma rollback " + moduleCharted + " --kyma " + canaryName + " --yes",
		"kyma rollout abort " + moduleCharted + " --yes",
		"kubectl wait --for=condition=Ready --timeout=3m kyma/" + canaryName,
		"kyma history " + moduleCharted + " --kyma " + canaryName,
		"kyma release status " + moduleCharted,
	}},
}

// addWarden adds the module whose next version asks for more, to be asked before every upgrade.
func addWarden(kyma string) string {
	return "kubectl patch kyma " + kyma + ` --type=json --patch='[{"op":"add","path":"/spec/modules/-","value":{"name":"` +
		moduleWarden + `","channel":"` + channelRegular + `","upgradeStrategy":"` + string(v1beta2.UpgradeManual) + `"}}]'`
}

// addCharted adds the module of the rollout to a Kyma. It follows the channel of the rollout, whatever channel the Kyma follows by then.
func addCharted(kyma string) string {
	return "kubectl patch kyma " + kyma + ` --type=json --patch='[{"op":"add","path":"/spec/modules/-","value":{"name":"` +
		moduleCharted + `","channel":"` + channelRegular + `"}}]'`
}

// writeEnv writes the environment for a shell. kubectl and kyma get their own folder, so that nothing else is added to PATH.
func (p *playground) writeEnv(context.Context) error {
	bin, err := p.folder.part("bin")
	if err != nil {
		return err
	}
	for name, program := range map[string]string{"kubectl": p.hub.Kubectl, clientProgram: p.program(clientProgram)} {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	env := fmt.Sprintf(`# kubectl, kyma and the clusters of playground %d, for: source %s
export %s=%s
export %s=%s
export %s=%s
export %s=%s
export %s=%s
export %s=%s
export PATH=%s:"$PATH"
# What kubectl remembers of a cluster goes with the playground: another one may get the same port.
export KUBECACHEDIR=%s
`, p.folder.number, quote(short(p.folder.path(envName))), kubeconfigVariable, quote(p.hub.Kubeconfig),
		runtimeKubeconfigVariable, quote(p.runtime.Kubeconfig), canaryVariable, quote(p.canaryKubeconfig()),
		samplesVariable, quote(p.folder.path(samplesName)),
		contentVariable, quote("https://"+p.crew.manager.content), registryVariable, quote("http://"+p.registry.Host),
		quote(bin), quote(p.folder.path(cacheName)))
	return os.WriteFile(p.folder.path(envName), []byte(env), 0o600)
}

// summary describes what exists and what to do with it.
func (p *playground) summary() string {
	var out strings.Builder
	m := p.crew.manager
	fmt.Fprintln(&out, "\nWhat there is")
	table(&out, [][]string{
		{hubName, "cluster with the Kymas and the manager", "KUBECONFIG " + short(p.hub.Kubeconfig)},
		{runtimeName, "cluster that Kyma demo manages", "KUBECONFIG " + short(p.runtime.Kubeconfig)},
		{canaryName, "a third one, started when there is a Kyma " + canaryName, "KUBECONFIG " + short(p.canaryKubeconfig())},
		{"kubectl", "client of the clusters' version", short(p.hub.Kubectl)},
		{"registry", "OCI components of the modules, charts, bundles", "http://" + p.registry.Host},
		{"web", "a Helm repository, and a bundle", "http://" + p.web.host + helmFolder},
		{"manager", "bin/manager", "log " + short(m.log) + ", metrics http://" + m.metrics + "/metrics"},
		{"content", "rendered content of Manifests, for users with permission", "https://" + m.content + "/v1/manifests/<namespace>/<name>"},
	})
	if p.board.Link != "" {
		fmt.Fprintf(&out, "\nThe dashboard (the link logs in anyone who has it)\n  %s\n", p.board.Link)
	}
	fmt.Fprintln(&out, "\nModules, with the versions that the channels offer")
	rows := [][]string{{"", channelRegular, channelFast, ""}}
	for i := range modules {
		rows = append(rows, []string{modules[i].name, channels[0].Version, channels[1].Version, modules[i].about})
	}
	table(&out, rows)
	fmt.Fprintln(&out, "\nKymas, both Ready")
	table(&out, [][]string{
		{remoteKyma, "channel " + channelRegular, moduleGreeter + " and " + moduleNotes + " in the runtime"},
		{localKyma, "channel " + channelRegular, moduleGreeter + " in the hub itself"},
	})
	fmt.Fprintln(&out, "\nFiles to apply, in "+short(p.folder.path(samplesName)))
	table(&out, sampleRows())
	fmt.Fprint(&out, things(quote(short(p.folder.path(envName)))))
	fmt.Fprint(&out, "\nCtrl-C ends everything.")
	return out.String()
}

// things lists what to try, with the path of the env file. Commands are the only lines that begin with six spaces.
func things(env string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\nEleven things to try, in another terminal, after\n\n      source %s\n", env)
	for i, t := range tries {
		fmt.Fprintf(&out, "\n  %d. %s\n", i+1, t.title)
		for _, command := range t.commands {
			fmt.Fprintf(&out, "      %s\n", command)
		}
	}
	return out.String()
}

// sampleRows returns the files with their descriptions.
func sampleRows() [][]string {
	rows := make([][]string, 0, len(allSamples()))
	for _, s := range allSamples() {
		rows = append(rows, []string{s.name + ".yaml", s.about})
	}
	return rows
}

// table aligns columns.
func table(out *strings.Builder, rows [][]string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	_ = w.Flush() // writes to memory do not fail
}

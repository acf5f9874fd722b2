package operations

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// elsewhere is a cluster that only says which one it is, to those who have its token.
type elsewhere struct {
	kubeconfig, token string
	// called returns how often it was called with its token.
	called func() int32
}

func (b *bench) elsewhere(identity string) elsewhere {
	b.Helper()
	token := "open-sesame-" + identity
	var calls atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`))
			return
		}
		calls.Add(1)
		_, _ = fmt.Fprintf(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":%q}}`, identity)
	}))
	b.Cleanup(server.Close)
	return elsewhere{kubeconfigOf(b.T, server, token), token, calls.Load}
}

func kubeconfigOf(t *testing.T, server *httptest.Server, token string) string {
	t.Helper()
	trust := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"there": {Server: server.URL, CertificateAuthorityData: trust}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"me": {Token: token}, "unused": {Token: "of-another-context"}},
		Contexts:       map[string]*clientcmdapi.Context{"now": {Cluster: "there", AuthInfo: "me"}},
		CurrentContext: "now",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// secretsOf returns the access Secrets of a Kyma.
func (b *bench) secretsOf(kyma string) []corev1.Secret {
	b.Helper()
	namespace, name, _ := strings.Cut(kyma, "/")
	found, err := runtimeaccess.Secrets(b.Context(), b, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		b.Fatal(err)
	}
	return found
}

func TestCreate_AKymaWithModules(t *testing.T) {
	b := newBench(t)
	b.manages()
	admin := b.admin()
	deed := Request{
		Kind: Create, Kyma: b.namespace + "/fresh", Channel: "fast", Modules: []Wanted{{Name: b.notes}, {Name: b.beacon, Channel: "fast"}},
		New: &NewKyma{Local: true, Labels: map[string]string{"ring": "canary"}, SkipMaintenanceWindows: true},
	}
	preview := b.previews(admin, deed)
	said := ""
	for _, f := range preview.Diff[0].Fields {
		said += f.Path + "=" + f.To + "\n"
	}
	if !slices.Equal(changed(preview), []string{"Create Kyma"}) || !strings.Contains(said, "fast") || !strings.Contains(said, "canary") ||
		preview.Refused != "" || preview.Confirm != "" {
		t.Fatalf("%+v", preview)
	}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "fresh"}, &v1beta2.Kyma{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the preview has created it: %v", err)
	}
	op := b.succeeds(admin, deed)
	made := b.read(deed.Kyma)
	if b.entries(deed.Kyma) != "notes beacon:fast" || made.Labels["ring"] != "canary" || *made.Spec.Remote || made.Spec.Channel != "fast" ||
		!made.Spec.SkipMaintenanceWindows || op.Title != "Create Kyma "+deed.Kyma {
		t.Errorf("%+v %s", made.Spec, op.Title)
	}
	if again := b.previews(admin, deed); len(changed(again)) != 0 || again.Refused != "" {
		t.Errorf("an equal Kyma is a change: %+v", again)
	}
	b.succeeds(admin, deed)
	deed.Channel = "regular"
	if preview := b.previews(admin, deed); !strings.Contains(preview.Refused, "already exists and differs: choose another name") {
		t.Errorf("another Kyma of that name: %+v", preview)
	}
}

func TestCreate_WhatIsRefused(t *testing.T) {
	b := newBench(t)
	admin := b.admin()
	reader := b.user("reader-" + b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "*", "get list watch patch update"))
	made := func(change func(*Request)) Request {
		deed := Request{Kind: Create, Kyma: b.namespace + "/fresh", New: &NewKyma{Local: true}}
		change(&deed)
		return deed
	}
	for name, c := range map[string]struct {
		as     Actor
		deed   Request
		reason string
		words  string
	}{
		"a module that is not offered": {admin, made(func(d *Request) { d.Modules = []Wanted{{Name: "nowhere"}} }), WhyNotFound, "nowhere"},
		"a channel that does not have it": {
			admin, made(func(d *Request) { d.Modules = []Wanted{{Name: b.beacon, Channel: "regular"}} }), WhyNotFound, "channel",
		},
		"a release that there is not": {admin, made(func(d *Request) { d.New.Release = "spring" }), WhyNotFound, "no KymaRelease"},
		"who may not create Kymas":    {reader, made(func(*Request) {}), WhyForbidden, "lacks the permission"},
		"a kubeconfig that is none": {
			admin, made(func(d *Request) { d.New.Local, d.Kubeconfig = false, NewKubeconfig("token: open-sesame") }), WhyInvalid, "kubeconfig",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.refused(c.as, c.deed, c.reason, c.words)
			if strings.Contains(err.Message, "sesame") {
				t.Errorf("it repeats what was sent: %s", err.Message)
			}
		})
	}
	elsewhereNamespace := made(func(d *Request) { d.Kyma = "nowhere-at-all/fresh" })
	if preview := b.previews(admin, elsewhereNamespace); !strings.Contains(preview.Refused, "no namespace nowhere-at-all") {
		t.Errorf("%+v", preview)
	}
}

// TestCreate_WithAKubeconfig: the access Secret comes first, and the kubeconfig is in the Secret alone.
func TestCreate_WithAKubeconfig(t *testing.T) {
	b := newBench(t)
	there := b.elsewhere("uid-of-" + b.namespace)
	admin, kyma := b.admin(), b.namespace+"/far"
	deed := Request{Kind: Create, Kyma: kyma, New: &NewKyma{}, Kubeconfig: NewKubeconfig(there.kubeconfig)}
	preview := b.previews(admin, deed)
	if !slices.Equal(changed(preview), []string{"Create Kyma", "Create Secret"}) {
		t.Errorf("%+v", preview)
	}
	op := b.succeeds(admin, deed)
	shown, err := json.Marshal([]any{preview, op, fmt.Sprintf("%v %+v %s %#v", deed, deed, deed.Kubeconfig, *deed.Kubeconfig)})
	if err != nil || strings.Contains(string(shown), "sesame") || strings.Contains(string(shown), "certificate-authority") {
		t.Errorf("the kubeconfig is shown: %s %v", shown, err)
	}
	secrets := b.secretsOf(kyma)
	if len(secrets) != 1 || !strings.Contains(string(secrets[0].Data[v1beta2.AccessSecretKey]), there.token) ||
		strings.Contains(string(secrets[0].Data[v1beta2.AccessSecretKey]), "of-another-context") {
		t.Fatalf("%+v", secrets)
	}
	record := &corev1.ConfigMap{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: recordPrefix + op.ID}, record); err != nil {
		t.Fatal(err)
	}
	if text := record.Data[recordKey]; strings.Contains(text, "sesame") || !strings.Contains(text, hiddenText) {
		t.Errorf("the record is %s", text)
	}
	if *b.read(kyma).Spec.Remote != true {
		t.Error("the Kyma is local")
	}
	// A server that has not heard of the kubeconfig goes on with the Secret that is there.
	resumed := deed.bare()
	if made, err := b.engine.plan(t.Context(), admin, &resumed, true); err != nil || made.refused != nil || len(made.steps) != 1 {
		t.Errorf("%+v %v", made, err)
	}
	if err := b.Delete(t.Context(), &secrets[0]); err != nil {
		t.Fatal(err)
	}
	if made, err := b.engine.plan(t.Context(), admin, &resumed, true); err != nil || made.refusal() == "" {
		t.Errorf("without Secret and kubeconfig: %+v %v", made, err)
	}
}

// TestConnect_StoresWhatWasChecked, and waits until the lifecycle manager says that it reached the cluster.
func TestConnect_StoresWhatWasChecked(t *testing.T) {
	b := newBench(t)
	admin, kyma := b.admin(), b.namespace+"/far"
	b.create(&v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "far"}, Spec: v1beta2.KymaSpec{Channel: "regular"}})
	local := b.kyma("here")
	there, other := b.elsewhere("first-of-"+b.namespace), b.elsewhere("second-of-"+b.namespace)
	own, err := localcluster.KubeconfigOf("runtime", b.config)
	if err != nil {
		t.Fatal(err)
	}
	connect := func(kubeconfig string) Request {
		return Request{Kind: Connect, Kyma: kyma, Kubeconfig: NewKubeconfig(kubeconfig)}
	}
	b.refused(admin, connect(string(own)), WhyRefused, "this very cluster")
	b.refused(admin, connect(strings.ReplaceAll(there.kubeconfig, there.token, "wrong")), WhyRefused, "does not accept the credentials")
	b.refused(admin, connect(strings.ReplaceAll(there.kubeconfig, "token:", "tokenFile:")), WhyInvalid, "reads a file")
	b.refused(admin, connect(""), WhyInvalid, "kubeconfig is empty")
	b.refused(admin, Request{Kind: Connect, Kyma: local, Kubeconfig: NewKubeconfig(there.kubeconfig)}, WhyRefused, "needs no kubeconfig")
	b.refused(admin, Request{Kind: Connect, Kyma: b.namespace + "/none", Kubeconfig: NewKubeconfig(there.kubeconfig)}, WhyNotFound, "no Kyma")
	reader := b.user("reader-" + b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "*", "*"))
	b.refused(reader, connect(there.kubeconfig), WhyForbidden, "lacks the permission")
	if preview := b.previews(reader, connect(there.kubeconfig)); !strings.Contains(preview.Refused, "lacks the permission") || there.called() != 0 {
		t.Errorf("who may not store a kubeconfig has its server called %d times: %+v", there.called(), preview)
	}
	shared, err := New(Options{Shared: true, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	if preview, err := shared.Preview(runtimeaccess.Shared(t.Context()), admin, connect(there.kubeconfig)); err != nil || preview.Refused == "" {
		t.Errorf("a dashboard for several users calls its own machine: %+v %v", preview, err)
	}
	if len(b.secretsOf(kyma)) != 0 {
		t.Fatal("a refusal has stored something")
	}
	preview := b.previews(admin, connect(there.kubeconfig))
	if !slices.Equal(changed(preview), []string{"Create Secret"}) || len(preview.Diff[0].Fields) != 0 {
		t.Errorf("%+v", preview)
	}
	op := b.starts(admin, connect(there.kubeconfig))
	if _, err := b.waits(b.engine, admin, op.ID, func(op Operation) bool { return op.Steps[1].State == StepRunning }); err != nil {
		t.Fatal(err)
	}
	b.reach(kyma, "first-of-"+b.namespace, v1beta2.ReasonRuntimeConnecting)
	b.reach(kyma, "first-of-"+b.namespace, v1beta2.ReasonNoModules)
	b.ends(b.engine, admin, op.ID, Succeeded)
	if len(b.secretsOf(kyma)) != 1 {
		t.Error("there is no access Secret")
	}
	b.refused(admin, connect(other.kubeconfig), WhyRefused, "another cluster than the one that Kyma")
	if preview := b.previews(admin, connect(there.kubeconfig)); len(changed(preview)) != 0 || len(preview.Warnings) != 1 {
		t.Errorf("the same again: %+v", preview)
	}
}

// reach writes what the lifecycle manager says of the cluster of a Kyma.
func (b *bench) reach(kyma, identity, reason string) {
	b.Helper()
	found := b.read(kyma)
	before := found.DeepCopy()
	found.Status.RuntimeID, found.Status.State = identity, v1beta2.StateReady
	found.Status.LastOperation = v1beta2.LastOperation{Operation: "x"}
	meta.SetStatusCondition(&found.Status.Conditions, metav1.Condition{Type: v1beta2.ConditionReady, Status: "True", Reason: reason})
	if err := b.Status().Patch(b.Context(), found, client.MergeFrom(before)); err != nil {
		b.Fatal(err)
	}
}

func TestSuspend_AndResume(t *testing.T) {
	b := newBench(t)
	admin, kyma := b.admin(), b.kyma("demo", v1beta2.Module{Name: b.notes})
	suspend := Request{Kind: Suspend, Kyma: kyma}
	preview := b.previews(admin, suspend)
	if !slices.Equal(changed(preview), []string{"Update Kyma"}) || len(preview.Warnings) != 1 || !strings.Contains(preview.Why, "stays as it is") {
		t.Errorf("%+v", preview)
	}
	b.succeeds(admin, suspend)
	if b.read(kyma).Labels[v1beta2.LabelSkipReconciliation] != v1beta2.EnabledValue {
		t.Error("it is not suspended")
	}
	if preview := b.previews(admin, suspend); len(changed(preview)) != 0 {
		t.Errorf("once more: %+v", preview)
	}
	b.succeeds(admin, Request{Kind: Resume, Kyma: kyma})
	if _, is := b.read(kyma).Labels[v1beta2.LabelSkipReconciliation]; is {
		t.Error("it is still suspended")
	}
	reader := b.user("reader-" + b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "*", "get list"))
	b.refused(reader, suspend, WhyForbidden, "lacks the permission")
}

// TestDeleteKyma_WithItsModules: what users made holds it, its name is typed, and its end is waited for.
func TestDeleteKyma_WithItsModules(t *testing.T) {
	b := newBench(t)
	b.manages()
	b.papers("default", "mine")
	no := false
	admin, kyma := b.admin(), b.kyma("demo", v1beta2.Module{Name: b.notes}, v1beta2.Module{Name: b.beacon, Channel: "fast", Managed: &no})
	b.awaitStatus(kyma)
	held := b.read(kyma)
	held.Finalizers = []string{"example.com/held"}
	if err := b.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	deed := Request{Kind: DeleteKyma, Kyma: kyma}
	preview := b.previews(admin, deed)
	said := strings.Join(preview.Warnings, "\n")
	if preview.Confirm != "demo" || !slices.Equal(changed(preview), []string{"Delete Kyma", "Delete " + modulestatus.KindModule}) ||
		len(preview.Blocking) != 1 || !strings.Contains(said, "mine") || !strings.Contains(said, b.beacon+": not managed") {
		t.Errorf("%+v", preview)
	}
	b.refused(admin, deed, WhyConfirm, "demo")
	deed.Confirmation = "demo"
	op := b.starts(admin, deed)
	holds := func(op Operation) bool { return op.Steps[1].State == StepRunning && op.Steps[1].Message != "" }
	if seen, err := b.waits(b.engine, admin, op.ID, holds); err != nil || seen.State != Running {
		t.Fatalf("%+v %v", seen, err)
	}
	if later := b.previews(admin, deed); later.Confirm != "" || !strings.Contains(later.Why, "already") {
		t.Errorf("while it is being deleted: %+v", later)
	}
	held = b.read(kyma)
	held.Finalizers = nil
	if err := b.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	b.ends(b.engine, admin, op.ID, Succeeded)
	if preview := b.previews(admin, deed); preview.Way != string(modulestatus.Gone) {
		t.Errorf("afterwards: %+v", preview)
	}
	b.succeeds(admin, deed)
}

func TestDeleteKyma_IsAboutTheRuntimeToo(t *testing.T) {
	b := newBench(t)
	admin, kyma := b.admin(), b.namespace+"/far"
	b.create(&v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "far"}, Spec: v1beta2.KymaSpec{Channel: "regular"}})
	deed := Request{Kind: DeleteKyma, Kyma: kyma}
	if preview := b.previews(admin, deed); !strings.Contains(strings.Join(preview.Warnings, " "), "what runs there stays") {
		t.Errorf("without an access Secret: %+v", preview)
	}
	blind := b.user("blind-" + b.namespace)
	b.may(blind, rule(v1beta2.GroupVersion.Group, "*", "*"))
	if preview := b.previews(blind, deed); !strings.Contains(strings.Join(preview.Warnings, " "), "may not read its access Secret") {
		t.Errorf("without the right to read it: %+v", preview)
	}
	reader := b.user("reader-" + b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "*", "get list patch"))
	deed.Confirmation = "far"
	b.refused(reader, deed, WhyForbidden, "lacks the permission")
	b.succeeds(blind, deed) // nothing holds it
	if preview := b.previews(admin, deed); preview.Diff == nil || preview.Way != string(modulestatus.Gone) {
		t.Errorf("%+v", preview)
	}
}

func TestKubeconfig_IsHidden(t *testing.T) {
	var deed Request
	if err := json.Unmarshal([]byte(`{"kind":"connect","kyma":"a/b","kubeconfig":"open-sesame"}`), &deed); err != nil {
		t.Fatal(err)
	}
	if !deed.Kubeconfig.isKept() || deed.Validate() != nil {
		t.Fatal("it was not read")
	}
	text, err := json.Marshal(&record{Operation: Operation{Deed: deed, Steps: []Step{}}})
	if err != nil || strings.Contains(string(text), "sesame") {
		t.Errorf("%s %v", text, err)
	}
	var again record
	if err := json.Unmarshal(text, &again); err != nil || again.Deed.Kubeconfig == nil || again.Deed.Kubeconfig.isKept() || again.Deed.Validate() != nil {
		t.Errorf("%+v %v", again.Deed, err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if said := fmt.Sprintf(verb, deed.Kubeconfig); strings.Contains(said, "sesame") || strings.Contains(said, "736573616d65") {
			t.Errorf("%s prints %s", verb, said)
		}
	}
	if err := json.Unmarshal([]byte(`{"kubeconfig":{"token":"open-sesame"}}`), &deed); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("got %v", err)
	}
	lost := entry{Operation: Operation{Title: "Connect Kyma a/b", Deed: deed.bare()}}
	if !strings.Contains(lost.lost(), "again with the kubeconfig") {
		t.Errorf("got %q", lost.lost())
	}
}

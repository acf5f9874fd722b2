package operations

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct{ deed, want string }{
		"a module is added":                       {`{"kind":"add","kyma":"kcp-system/demo","modules":[{"name":"notes"}]}`, ""},
		"directly, without a Kyma":                {`{"kind":"add","direct":true,"modules":[{"name":"notes","version":"1.2.3"}],"confirmation":"notes"}`, ""},
		"from a source":                           {`{"kind":"add","community":true,"source":"hub","modules":[{"name":"notes"}]}`, ""},
		"an upgrade":                              {`{"kind":"upgrade","items":[{"module":"notes"},{"kyma":"a/b","module":"notes","channel":"fast"}]}`, ""},
		"a deletion with what was shown":          {`{"kind":"delete","module":"notes","cascade":true,"previewed":[{"apiVersion":"v1","kind":"X","name":"x","uid":"1"}]}`, ""},
		"a promotion":                             {`{"kind":"promote","release":"kcp-system/notes","channel":"fast","version":"1.0.0"}`, ""},
		"no kind":                                 {`{}`, "kind \"\" is unknown"},
		"a kind that there is not":                {`{"kind":"explode"}`, "add, upgrade, delete"},
		"a field of another kind":                 {`{"kind":"delete","module":"notes","items":[{"module":"x"}]}`, "field items means nothing for kind delete"},
		"no module to add":                        {`{"kind":"add"}`, "which modules?"},
		"a module twice":                          {`{"kind":"add","modules":[{"name":"notes"},{"name":"notes","version":"1.0.0"}]}`, "named twice"},
		"a name that is none":                     {`{"kind":"add","modules":[{"name":"no/tes"}]}`, "not a module name"},
		"a name with a version in it":             {`{"kind":"add","modules":[{"name":"notes@1.0.0"}]}`, "not a module name"},
		"a channel and a version":                 {`{"kind":"add","modules":[{"name":"notes","channel":"fast","version":"1.0.0"}]}`, "set either channel or version, not both"},
		"a channel that is none":                  {`{"kind":"add","modules":[{"name":"notes","channel":"Fast"}]}`, "is not a channel"},
		"a version that is none":                  {`{"kind":"add","modules":[{"name":"notes","version":"newest"}]}`, "is no version"},
		"a policy that there is not":              {`{"kind":"add","modules":[{"name":"notes","policy":"Maybe"}]}`, "CreateAndDelete or Ignore"},
		"two custom resources":                    {`{"kind":"add","modules":[{"name":"notes","policy":"CreateAndDelete","resource":{"kind":"X","apiVersion":"v1"}}]}`, "which of the two?"},
		"direct and community":                    {`{"kind":"add","direct":true,"community":true,"modules":[{"name":"notes"}]}`, "which of the two?"},
		"a source for a Kyma":                     {`{"kind":"add","source":"hub","kyma":"a/b","modules":[{"name":"notes"}]}`, "installed directly"},
		"a Kyma without a namespace":              {`{"kind":"manage","kyma":"demo","module":"notes"}`, "is not NAMESPACE/NAME"},
		"a Kyma with too much":                    {`{"kind":"manage","kyma":"a/b/c","module":"notes"}`, "is not NAMESPACE/NAME"},
		"no Kyma to change":                       {`{"kind":"channel","channel":"fast"}`, "field kyma is missing"},
		"no module to delete":                     {`{"kind":"delete","kyma":"a/b"}`, "field module is missing"},
		"a Kyma has no version":                   {`{"kind":"channel","kyma":"a/b","version":"1.0.0"}`, "set channel"},
		"what was shown, without cascade":         {`{"kind":"delete","module":"notes","previewed":[{"kind":"X","name":"x","uid":"1"}]}`, "means nothing without cascade"},
		"what was shown, without the object's ID": {`{"kind":"delete","module":"notes","cascade":true,"previewed":[{"kind":"X","name":"x"}]}`, "needs kind, name and uid"},
		"no object to configure with":             {`{"kind":"configure","module":"notes"}`, "field object is missing"},
		"no version to promote":                   {`{"kind":"promote","release":"a/b","channel":"fast"}`, "which version?"},
		"nothing to upgrade":                      {`{"kind":"upgrade"}`, "0 modules to upgrade"},
		"consent":                                 {`{"kind":"approve","kyma":"a/b","module":"notes","target":"1.0.0@sha256:` + strings.Repeat("0", 64) + `"}`, ""},
		"consent to what has no digest":           {`{"kind":"approve","kyma":"a/b","module":"notes","target":"1.0.0"}`, "version and digest"},
		"consent without a Kyma":                  {`{"kind":"approve","module":"notes"}`, "field kyma is missing"},
		"a strategy":                              {`{"kind":"strategy","kyma":"a/b","module":"notes","strategy":"Manual"}`, ""},
		"a strategy that there is not":            {`{"kind":"strategy","kyma":"a/b","module":"notes","strategy":"Never"}`, "Automatic or Manual"},
		"no strategy":                             {`{"kind":"strategy","kyma":"a/b","module":"notes"}`, "field strategy is missing"},
		"an addition with a strategy":             {`{"kind":"add","kyma":"a/b","modules":[{"name":"notes","strategy":"Manual"}]}`, ""},
		"a deletion with what needs it":           {`{"kind":"delete","kyma":"a/b","module":"istio","with":["notes"]}`, ""},
		"a deletion with a name that is none":     {`{"kind":"delete","kyma":"a/b","module":"istio","with":["no/tes"]}`, "not a module name"},
		"a new Kyma":                              {`{"kind":"create","kyma":"a/b","new":{"local":true,"labels":{"ring":"canary"}},"modules":[{"name":"notes"}]}`, ""},
		"a new Kyma with a kubeconfig":            {`{"kind":"create","kyma":"a/b","new":{},"kubeconfig":"x"}`, ""},
		"a new Kyma of no kind":                   {`{"kind":"create","kyma":"a/b"}`, "field new is missing"},
		"a new Kyma without a name":               {`{"kind":"create","new":{}}`, "field kyma is missing"},
		"a new Kyma with a name that is none":     {`{"kind":"create","kyma":"a/B","new":{}}`, "no name of a Kyma"},
		"a new Kyma in a namespace that is none":  {`{"kind":"create","kyma":"A/b","new":{}}`, "is no namespace"},
		"a new Kyma on channel and release":       {`{"kind":"create","kyma":"a/b","channel":"fast","new":{"release":"x"}}`, "which of the two?"},
		"a local one with a kubeconfig":           {`{"kind":"create","kyma":"a/b","new":{"local":true},"kubeconfig":"x"}`, "needs no kubeconfig"},
		"a label that is none":                    {`{"kind":"create","kyma":"a/b","new":{"labels":{"a b":"c"}}}`, "no name of a label"},
		"a value that is none":                    {`{"kind":"create","kyma":"a/b","new":{"labels":{"a":"b c"}}}`, "no value of a label"},
		"a label that suspends":                   {`{"kind":"create","kyma":"a/b","new":{"labels":{"operator.kyma-project.io/skip-reconciliation":"true"}}}`, "by other means"},
		"a new Kyma with a custom resource":       {`{"kind":"create","kyma":"a/b","new":{},"modules":[{"name":"notes","resource":{"kind":"X","apiVersion":"v1"}}]}`, "omit field resource"},
		"a new Kyma with a module twice":          {`{"kind":"create","kyma":"a/b","new":{},"modules":[{"name":"notes"},{"name":"notes"}]}`, "named twice"},
		"a connection":                            {`{"kind":"connect","kyma":"a/b","kubeconfig":"x"}`, ""},
		"a connection to nothing":                 {`{"kind":"connect","kyma":"a/b"}`, "field kubeconfig is missing"},
		"a kubeconfig that is too long":           {`{"kind":"connect","kyma":"a/b","kubeconfig":"` + strings.Repeat("x", 300<<10) + `"}`, "at most"},
		"a deletion of a Kyma":                    {`{"kind":"deleteKyma","kyma":"a/b"}`, ""},
		"a deletion of no Kyma":                   {`{"kind":"deleteKyma"}`, "field kyma is missing"},
		"a deletion of a Kyma names no module":    {`{"kind":"deleteKyma","kyma":"a/b","module":"notes"}`, "means nothing"},
		"a suspension":                            {`{"kind":"suspend","kyma":"a/b"}`, ""},
		"a resumption":                            {`{"kind":"resume","kyma":"a/b"}`, ""},
		"what needs it, without a Kyma":           {`{"kind":"delete","module":"istio","with":["notes"]}`, "set kyma"},
	} {
		t.Run(name, func(t *testing.T) {
			var deed Request
			if err := json.Unmarshal([]byte(c.deed), &deed); err != nil {
				t.Fatal(err)
			}
			err := deed.Validate()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err == nil && (deed.Title() == "" || len(deed.about(nil)) == 0 || len(deed.rights("get")) == 0) {
				t.Errorf("title %q, about %v, rights %v", deed.Title(), deed.about(nil), deed.rights("get"))
			}
		})
	}
}

func TestTitles(t *testing.T) {
	for want, deed := range map[string]Request{
		"Add a, b, c and 2 more in x/y":         {Kind: Add, Kyma: "x/y", Modules: []Wanted{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}},
		"Set the channel of x/y to fast":        {Kind: Channel, Kyma: "x/y", Channel: "fast"},
		"Set notes to 1.0.0 in x/y":             {Kind: Channel, Kyma: "x/y", Module: "notes", Version: "1.0.0"},
		"Let notes follow the channel of x/y":   {Kind: Channel, Kyma: "x/y", Module: "notes"},
		"Let channel fast of x/notes offer 1.0": {Kind: Promote, Release: "x/notes", Channel: "fast", Version: "1.0"},
		"Manage notes in x/y":                   {Kind: Manage, Kyma: "x/y", Module: "notes"},
		"Stop managing notes in x/y":            {Kind: Unmanage, Kyma: "x/y", Module: "notes"},
		"Delete notes":                          {Kind: Delete, Module: "notes"},
	} {
		if got := deed.Title(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRequest_InWords: pages do not mention flags and commands.
func TestRequest_InWords(t *testing.T) {
	for _, wish := range []modulestatus.InstallInput{
		{Module: "notes", Type: modulestatus.Managed, WantsUnmanaged: true}, {Module: "notes", Type: modulestatus.Community},
		{Module: "notes", Type: modulestatus.Community, WantsCommunity: true}, {Module: "notes", Type: modulestatus.Manageable, WantsCommunity: true},
		{Module: "notes", Type: modulestatus.Manageable}, {Module: "notes", Type: modulestatus.Manageable, Kyma: true, Direct: true},
	} {
		_, why := modulestatus.WayToInstall(wish)
		if got := inWords(why); strings.Contains(got, "--") || strings.Contains(got, "kyma ") || why != "" && got == "" {
			t.Errorf("%q became %q", why, got)
		}
	}
	_, why := modulestatus.NextToDelete(modulestatus.DeleteInput{Module: "notes", Managed: true, Resources: []modulestatus.Ref{{Kind: "X", Name: "x"}}})
	if got := inWords(why); strings.Contains(got, "--") || !strings.Contains(got, "X x") {
		t.Errorf("%q became %q", why, got)
	}
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	want := record{
		Operation: Operation{
			ID: "abc", User: "alice", State: Running, Created: now, Deed: Request{Kind: Delete, Module: "notes"}, Title: "Delete notes",
			Steps: []Step{{Title: "one", State: StepDone}}, Objects: []Object{},
		}, Holder: "me", Renewed: now,
	}
	made, err := want.encode("here")
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(made)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *got, cmp.AllowUnexported(record{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		after time.Duration
		want  State
	}{
		"a user is at it":                         {lapse, Running},
		"the record was not renewed for too long": {lapse + time.Second, Interrupted},
	} {
		if op := got.read(now.Add(c.after), lapse); op.State != c.want {
			t.Errorf("%s: %s", name, op.State)
		}
	}
	made.Data[recordKey] = strings.Replace(made.Data[recordKey], `"title":"Delete notes"`, `"title":"Say hello"`, 1)
	if got, err := decode(made); err != nil || got.Title != "Delete notes" {
		t.Errorf("the title is what a user wrote: %+v %v", got, err)
	}
	made.Name = recordPrefix + "other"
	if _, err := decode(made); err == nil {
		t.Error("a record of another name is taken")
	}
}

// FuzzDecode: users who may write ConfigMaps may write anything into them.
func FuzzDecode(f *testing.F) {
	f.Add(`{"id":"abc","deed":{"kind":"delete","module":"notes"},"state":"Running","steps":[],"objects":[]}`)
	f.Add(`{"id":"abc","deed":{"kind":"configure","module":"notes","object":{"apiVersion":"v1","kind":"X","metadata":{"name":"x"}}}}`)
	f.Add(`{"id":"abc","deed":{"kind":"add","modules":[{"name":"a","resource":{"kind":"List","items":[{}]}}]}}`)
	f.Add(`[]`)
	base := record{Operation: Operation{ID: "abc", Deed: Request{Kind: Delete, Module: "notes"}}}
	f.Fuzz(func(t *testing.T, text string) {
		made, err := base.encode("here")
		if err != nil {
			t.Fatal(err)
		}
		made.Data[recordKey] = text
		got, err := decode(made)
		if err != nil {
			return
		}
		if got.Deed.Validate() != nil || got.Steps == nil || got.Objects == nil || got.Title != got.Deed.Title() {
			t.Errorf("%+v", got)
		}
		if _, err := json.Marshal(got.read(time.Now(), lapse)); err != nil {
			t.Error(err)
		}
	})
}

// TestRequest_OneObjectIsToldOnce although the cluster does not serve its kind at first; objects of several Kymas stay apart.
func TestRequest_OneObjectIsToldOnce(t *testing.T) {
	l := &activeOperation{op: Operation{}, objects: map[string]int{}, touched: make(chan struct{}, 1), notify: func() {}}
	r := &reporter{live: l}
	r.object(modulestatus.Ref{APIVersion: "apps/", Kind: "Deployment", Namespace: "x", Name: "notes"}, "Waiting", "")
	r.object(modulestatus.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "x", Name: "notes"}, "Ready", "")
	r.object(modulestatus.Ref{APIVersion: "apps/", Kind: "Deployment", Namespace: "x", Name: "notes"}, "Ready", "")
	r.object(modulestatus.Ref{APIVersion: "extensions/v1", Kind: "Deployment", Namespace: "x", Name: "notes"}, "Ready", "")
	want := []Object{
		{Ref: modulestatus.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "x", Name: "notes"}, State: "Ready"},
		{Ref: modulestatus.Ref{APIVersion: "extensions/v1", Kind: "Deployment", Namespace: "x", Name: "notes"}, State: "Ready"},
	}
	if got := l.operation().Objects; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	module := modulestatus.Ref{Kind: modulestatus.KindModule, Namespace: "kcp-system", Name: "notes"}
	for _, kyma := range []string{"kcp-system/a", "kcp-system/b"} {
		told := step{do: func(_ context.Context, r *reporter) error { r.object(module, "Ready", ""); return nil }}
		if err := told.of(kyma).do(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.operation().Objects; len(got) != 4 || got[2].Kyma != "kcp-system/a" || got[3].Kyma != "kcp-system/b" {
		t.Errorf("modules of two Kymas are told of as %+v", got)
	}
}

// TestChange_RecordsNoValuesForCharts, and bounds what it records.
func TestChange_RecordsNoValuesForCharts(t *testing.T) {
	change := Change{Fields: []Field{
		{Path: "spec.channel", From: "regular", To: strings.Repeat("x", 2*mostValue)},
		{Path: "spec.modules[name=notes].values", To: "open-sesame"},
		{Path: "spec.modules[name=notes].values.login.password", From: "open-sesame"},
		{Path: "spec.modules[name=notes]", To: `{"name":"notes","values":{"password":"open-sesame"}}`},
	}}
	for range mostChanged {
		change.Fields = append(change.Fields, Field{Path: "spec.more"})
	}
	kept := change.recorded()
	text, err := json.Marshal(kept)
	if err != nil || strings.Contains(string(text), "sesame") || len(kept.Fields) != mostChanged {
		t.Errorf("%s %v", text, err)
	}
	if kept.Fields[0].From != "regular" || len(kept.Fields[0].To) > mostValue+10 || kept.Fields[1] != (Field{Path: kept.Fields[1].Path, To: "(not recorded)"}) {
		t.Errorf("%+v", kept.Fields[:2])
	}
}

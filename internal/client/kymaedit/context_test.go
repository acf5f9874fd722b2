package kymaedit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// stand returns a Kyma with some modules, and releases of notes (regular 1.0.0, fast 1.1.0, template of 1.2.0) and of the mandatory warden.
func stand(remote bool, modules ...v1beta2.Module) *KymaContext {
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Remote: &remote, Modules: modules},
	}
	s := StandOf(kyma)
	s.Releases = []v1beta2.ModuleReleaseMeta{
		{ObjectMeta: metav1.ObjectMeta{Name: "notes"}, Spec: v1beta2.ModuleReleaseMetaSpec{Channels: []v1beta2.ChannelVersion{
			{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "1.1.0"},
		}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "warden"}, Spec: v1beta2.ModuleReleaseMetaSpec{Mandatory: &v1beta2.Mandatory{Version: "1.0.0"}}},
	}
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		s.Templates = append(s.Templates, v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "notes-" + version}, Spec: v1beta2.ModuleTemplateSpec{ModuleName: "notes", Version: version},
		})
	}
	s.Offers = Offers(s.Releases, s.Templates)
	return &s
}

func (s *KymaContext) runs(version string) *KymaContext {
	s.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", Version: version}}
	return s
}

func TestContext_MayAdd(t *testing.T) {
	for name, c := range map[string]struct {
		stand     *KymaContext
		module    string
		direct    bool
		community bool
		want      modulestatus.InstallMethod
		refused   bool
	}{
		"an offered module goes into the Kyma":              {stand: stand(false), module: "notes", want: modulestatus.ViaKyma},
		"an enabled module may be changed":                  {stand: stand(false, v1beta2.Module{Name: "notes"}), module: "notes", want: modulestatus.ViaKyma},
		"a directly installed module must be removed first": {stand: stand(false), module: "notes", direct: true, want: modulestatus.NoWay},
		"an unmanaged module is a community module":         {stand: stand(false), module: "widget", community: true, want: modulestatus.NoWay},
		"an offered module is none, even with templates":    {stand: stand(false), module: "notes", community: true, want: modulestatus.ViaKyma},
		"an unknown module is an error with alternatives":   {stand: stand(false), module: "gadget", want: modulestatus.NoWay, refused: true},
		"a mandatory module cannot be requested":            {stand: stand(false), module: "warden", want: modulestatus.NoWay, refused: true},
		"an entry of a withdrawn module: Check refuses it":  {stand: stand(false, v1beta2.Module{Name: "old"}), module: "old", want: modulestatus.ViaKyma, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			way, why, err := c.stand.MayAdd(ModuleRequest{Name: c.module}, c.direct, func() bool { return c.community })
			if way != c.want || (err != nil) != c.refused {
				t.Errorf("got %s %q %v", way, why, err)
			}
			if way == modulestatus.NoWay && why == "" && err == nil {
				t.Error("no one learns why not")
			}
		})
	}
}

func TestGoal(t *testing.T) {
	pinned := v1beta2.Module{Name: "notes", Version: "1.0.0"}
	for name, c := range map[string]struct {
		entry   v1beta2.Module
		wish    ModuleRequest
		runs    string
		want    ModuleRequest
		changes bool
		bad     string
	}{
		"what was asked for":                      {entry: pinned, wish: ModuleRequest{Version: "1.1.0"}, want: ModuleRequest{Name: "notes", Version: "1.1.0"}, changes: true},
		"an entry that follows a channel stays":   {entry: v1beta2.Module{Name: "notes"}, want: ModuleRequest{Name: "notes"}},
		"an entry with a version gets the newest": {entry: pinned, want: ModuleRequest{Name: "notes", Version: "1.2.0"}, changes: true},
		"an entry with the newest version stays":  {entry: v1beta2.Module{Name: "notes", Version: "1.2.0"}, want: ModuleRequest{Name: "notes"}},
		"a requested channel":                     {entry: pinned, wish: ModuleRequest{Channel: "fast"}, want: ModuleRequest{Name: "notes", Channel: "fast"}, changes: true},
		"a version without a template":            {entry: pinned, wish: ModuleRequest{Version: "9.0.0"}, bad: "has no version 9.0.0"},
		"a version below the installed one":       {entry: pinned, wish: ModuleRequest{Version: "1.0.0"}, runs: "1.1.0", bad: "1.0.0 of module notes is lower than 1.1.0, which is installed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stand(false, c.entry).runs(c.runs)
			got, changes, err := s.Goal(&c.entry, &s.Asked, c.wish)
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Errorf("got %v, want %q", err, c.bad)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || changes != c.changes || err != nil {
				t.Errorf("changes %t, %v (-want +got):\n%s", changes, err, diff)
			}
		})
	}
}

func TestTakenAlong(t *testing.T) {
	thing := func(kind, namespace, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind}}
		o.SetNamespace(namespace)
		o.SetName(name)
		return o
	}
	inStatus := func(s *KymaContext) {
		s.Kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "notes", Resource: &v1beta2.TrackingObject{
			PartialMeta: v1beta2.PartialMeta{Namespace: "other", Name: "first"},
		}}}
	}
	for name, c := range map[string]struct {
		policy  v1beta2.CustomResourcePolicy
		without bool
		status  func(*KymaContext)
		object  *unstructured.Unstructured
		want    bool
	}{
		"the default, where the template names no namespace": {object: thing("Note", "kyma-system", "default"), want: true},
		"the same name elsewhere is a user's":                {object: thing("Note", "team", "default")},
		"another name is a user's":                           {object: thing("Note", "kyma-system", "mine")},
		"another kind is a user's":                           {object: thing("Page", "kyma-system", "default")},
		"with the policy Ignore every object is a user's":    {policy: v1beta2.CustomResourcePolicyIgnore, object: thing("Note", "kyma-system", "default")},
		"the name in the status takes precedence":            {status: inStatus, object: thing("Note", "other", "first"), want: true},
		"over that of the template":                          {status: inStatus, object: thing("Note", "kyma-system", "default")},
		"without an entry in the Kyma nothing is deleted":    {without: true, object: thing("Note", "kyma-system", "default")},
		"while its deletion waits, what the status names":    {without: true, status: inStatus, object: thing("Note", "other", "first"), want: true},
		"and nothing else":                                   {without: true, status: inStatus, object: thing("Note", "kyma-system", "default")},
	} {
		t.Run(name, func(t *testing.T) {
			modules := []v1beta2.Module{{Name: "notes", CustomResourcePolicy: c.policy}}
			if c.without {
				modules = nil
			}
			s := stand(false, modules...)
			if c.status != nil {
				c.status(s)
			}
			template := s.Template("notes", "1.0.0")
			template.Spec.Data = thing("Note", "", "default")
			if got := s.DeletedWithModule("notes", template, c.object); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAssociated(t *testing.T) {
	template := &v1beta2.ModuleTemplate{}
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{
		{Group: "a", Version: "v1", Kind: "Note"}, {Group: "a", Version: "v2", Kind: "Note"}, {Group: "a", Version: "v1", Kind: "Page"},
	}
	template.Spec.Data = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "a/v3", "kind": "Page"}}
	var got []string
	for _, kind := range Associated(template, nil) {
		got = append(got, kind.String())
	}
	if diff := cmp.Diff([]string{"a/v1, Kind=Note", "a/v1, Kind=Page"}, got); diff != "" {
		t.Errorf("each kind once (-want +got):\n%s", diff)
	}
}

func TestCheckOfACopy(t *testing.T) {
	s := stand(true)
	if err := s.Check(&s.Asked, ModuleRequest{Name: "notes", Version: "9.0.0"}); err == nil {
		t.Error("the hub knows all versions that there are")
	}
	s.Kyma.Namespace, s.Kyma.Name = v1beta2.RuntimeNamespace, v1beta2.RuntimeKymaName
	s.Kyma.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
	if err := s.Check(&s.Asked, ModuleRequest{Name: "notes", Version: "9.0.0"}); err != nil {
		t.Errorf("a runtime does not see all versions: %v", err)
	}
	if err := s.Check(&s.Asked, ModuleRequest{Name: "gadget"}); err == nil {
		t.Error("it sees all modules")
	}
	if !s.Here() {
		t.Error("the modules of a copy are where it is")
	}
}

func TestChoose(t *testing.T) {
	offer := Offer{Module: "notes", Channels: map[string]string{"fast": "1.1.0", "slow": "0.1.0"}, Versions: []string{"2.0.0-rc1", "1.1.0", "1.0.0"}}
	for name, c := range map[string]struct {
		offer Offer
		wish  ModuleRequest
		want  string
	}{
		"a version":                               {offer, ModuleRequest{Version: "1.0.0"}, "1.0.0"},
		"the version of a channel":                {offer, ModuleRequest{Channel: "fast"}, "1.1.0"},
		"the newest that is no pre-release":       {offer, ModuleRequest{}, "1.1.0"},
		"a pre-release where there is no other":   {Offer{Versions: []string{"2.0.0-rc1"}}, ModuleRequest{}, "2.0.0-rc1"},
		"a version that there is not":             {offer, ModuleRequest{Version: "3.0.0"}, ""},
		"an unknown channel":                      {offer, ModuleRequest{Channel: "regular"}, ""},
		"a channel whose version has no template": {offer, ModuleRequest{Channel: "slow"}, ""},
		"no version at all":                       {Offer{}, ModuleRequest{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.wish.Name = "notes"
			got, err := c.offer.Choose(c.wish)
			var unknown *UnknownError
			if got != c.want || (got == "") != errors.As(err, &unknown) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

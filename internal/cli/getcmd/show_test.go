package getcmd

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

func TestShow_WhatIsNotThere(t *testing.T) {
	config := startHub(t)
	for name, c := range map[string]struct {
		args []string
		code int
		said string
	}{
		"a module that no Kyma has":               {[]string{"status", "unknown"}, console.CodeNotFound, "Hint: known modules: beacon, greeter, lone\n"},
		"a module that is available":              {[]string{"status", "greeter", "--kyma", "here"}, console.CodeNotFound, "kyma add greeter"},
		"a tree of an unknown module":             {[]string{"tree", "nobody"}, console.CodeNotFound, "there is no module nobody"},
		"events of an unknown module":             {[]string{"events", "nobody"}, console.CodeNotFound, "there is no module nobody"},
		"a module that was mistyped":              {[]string{"status", "greter"}, console.CodeNotFound, "did you mean greeter? Known modules: beacon,"},
		"a namespace that there is not":           {[]string{"list", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"the same, of a status":                   {[]string{"status", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"the same, of a tree":                     {[]string{"tree", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"the same, of events":                     {[]string{"events", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"the same, of Kymas":                      {[]string{"kyma", "list", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"the same, of a Kyma":                     {[]string{"kyma", "get", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"the same, of a catalog":                  {[]string{"catalog", "list", "-n", "nope"}, console.CodeNotFound, "there is no namespace nope"},
		"a namespace without a Kyma":              {[]string{"kyma", "get", "-n", "default"}, console.CodeNotFound, "there is no Kyma in namespace default"},
		"a Kyma that there is not":                {[]string{"list", "--kyma", "kcp-system/bob"}, console.CodeNotFound, "there is no Kyma kcp-system/bob"},
		"an unknown Kyma, by name":                {[]string{"kyma", "get", "bob"}, console.CodeNotFound, "there is no Kyma bob"},
		"one of several Kymas":                    {[]string{"kyma", "get"}, console.CodeUsage, "kcp-system/alice"},
		"an offer that there is not":              {[]string{"catalog", "show", "becon"}, console.CodeNotFound, "did you mean beacon? Known modules: beacon, greeter, lone"},
		"an unknown type":                         {[]string{"list", "--type", "x"}, console.CodeUsage, "managed, manageable or community"},
		"an object without a kind":                {[]string{"trace", "x"}, console.CodeUsage, "KIND/NAME"},
		"an object that is not there":             {[]string{"trace", "configmap/x"}, console.CodeNotFound, "no module has configmap/x"},
		"a kind that is not there":                {[]string{"trace", "unicorn/x"}, console.CodeNotFound, "no module has unicorn/x"},
		"an object that no module has":            {[]string{"trace", "service/kubernetes", "-n", "default"}, console.CodeNotFound, "belongs to no module"},
		"an object without namespace":             {[]string{"trace", "Namespace/default"}, console.CodeNotFound, "belongs to no module"},
		"a search that finds nothing is no error": {[]string{"catalog", "search", "unicorn"}, console.CodeOK, "None of 3 modules has unicorn in it"},
		"an empty namespace is no error":          {[]string{"kyma", "list", "-n", "default"}, console.CodeOK, "There are no Kymas"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said, _ := kyma(t, config, c.args...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, said %q; want %d and %q", code, said, c.code, c.said)
			}
			if out != "" {
				t.Errorf("wrote %q to standard output", out)
			}
		})
	}
}

func TestForbiddenIsNeverNone(t *testing.T) {
	nobody := rest.CopyConfig(startHub(t))
	nobody.Impersonate.UserName = "nobody"
	for _, args := range [][]string{
		{"list"}, {"status"}, {"status", "beacon"}, {"tree"}, {"catalog", "list"}, {"catalog", "show", "beacon"}, {"kyma", "list"},
		{"trace", "deployment/lone-manager"}, {"list", "--kyma", "kcp-system/alice"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			code, out, said, _ := kyma(t, nobody, args...)
			if code != console.CodeError || !strings.Contains(said, "you may not list") || strings.Contains(said, "No modules") {
				t.Errorf("exit code %d, said %q", code, said)
			}
			if out != "" {
				t.Errorf("wrote %q to standard output", out)
			}
		})
	}
	code, out, _, _ := kyma(t, nobody, "list", "-o", "json")
	if code != console.CodeError || !strings.Contains(out, `"reason": "Forbidden"`) || !strings.Contains(out, `"items": []`) {
		t.Errorf("exit code %d, wrote %s", code, out)
	}
}

func TestFleetCostsAFewRequests(t *testing.T) {
	config := administrator(t)
	c, err := target.Of(config).Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}); err != nil {
		t.Fatal(err)
	}
	alone := 0 // the requests with one Kyma
	for i := range 50 {
		if i == 1 {
			kyma(t, config, "list", "-n", "fleet") // an API server that has just learned a kind delays its answers, which costs requests
			_, _, _, alone = kyma(t, config, "list", "-n", "fleet", "-o", "name")
		}
		k := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: fmt.Sprintf("k%d", i)}}
		k.Spec.Channel = "regular"
		fleet := []client.Object{k}
		for j := range 5 {
			name := fmt.Sprintf("m%c", 'a'+j)
			k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: name})
			m := manifestOf(k.Name, name, "1.0.0")
			m.Namespace = "fleet"
			fleet = append(fleet, m)
		}
		for _, o := range fleet {
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() {
		for _, o := range []client.Object{&v1beta2.Kyma{}, &v1beta2.Manifest{}} {
			if err := c.DeleteAllOf(context.WithoutCancel(t.Context()), o, client.InNamespace("fleet")); err != nil {
				t.Error(err)
			}
		}
	})
	code, out, said, requests := kyma(t, config, "list", "-n", "fleet", "-o", "name")
	if lines := strings.Count(out, "module/m"); code != 0 || lines != 250 {
		t.Errorf("exit code %d, %d modules, said %q", code, lines, said)
	}
	if requests != alone || requests > 12 {
		t.Errorf("that took %d requests, and %d where there is one Kyma; want as many, and at most 12", requests, alone)
	}
}

// screen is a standard output that tests can wait on.
type screen struct {
	mutex sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (s *screen) Write(data []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer func() {
		select {
		case s.grown <- struct{}{}:
		default:
		}
	}()
	return s.text.Write(data)
}

// shows waits until a text is on the screen.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		s.mutex.Lock()
		found := strings.Contains(s.text.String(), text)
		s.mutex.Unlock()
		if found {
			return
		}
		select {
		case <-s.grown:
		case <-late:
			t.Fatalf("%q never came, only %q", text, s.text.String())
		}
	}
}

func TestWatchShowsChanges(t *testing.T) {
	config := administrator(t)
	c, err := target.Of(config).Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &screen{grown: make(chan struct{}, 1)}
	speaker := &console.Console{In: strings.NewReader(""), Out: out, Err: &bytes.Buffer{}}
	to := target.Of(config)
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	to.AddFlags(root.PersistentFlags())
	root.AddCommand(Commands(speaker, to)...)
	root.SetArgs([]string{"kyma", "list", "-n", "watched", "--watch", "-o", "name"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	first := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "watched", Name: "first"}, Spec: v1beta2.KymaSpec{Channel: "regular"}}
	if err := c.Create(ctx, first); err != nil {
		t.Fatal(err)
	}
	out.shows(t, "kyma/watched/first")
	if err := c.Create(ctx, &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "watched", Name: "second"}, Spec: first.Spec}); err != nil {
		t.Fatal(err)
	}
	out.shows(t, "kyma/watched/second")
	cancel()
	if code := console.Code(<-ended); code != console.CodeInterrupted {
		t.Errorf("Ctrl-C ended it with code %d", code)
	}
	for _, name := range []string{"first", "second"} {
		gone := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "watched", Name: name}}
		if err := c.Delete(t.Context(), gone); err != nil {
			t.Error(err)
		}
	}
}

func TestCompletion(t *testing.T) {
	config := startHub(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"of modules":                {[]string{"__complete", "status", ""}, "beacon\ngreeter\nlone\n"},
		"of modules not named yet":  {[]string{"__complete", "tree", "beacon", ""}, "greeter\nlone\n"},
		"of offers":                 {[]string{"__complete", "catalog", "show", ""}, "beacon\ngreeter\nlone\n"},
		"of one offer only":         {[]string{"__complete", "catalog", "show", "beacon", ""}, ":4"},
		"of Kymas":                  {[]string{"__complete", "list", "--kyma", ""}, "kcp-system/alice\nkcp-system/here\n"},
		"of the argument of get":    {[]string{"__complete", "kyma", "get", ""}, "kcp-system/alice\nkcp-system/here\n"},
		"of types":                  {[]string{"__complete", "list", "--type", ""}, "managed\nmanageable\ncommunity\n"},
		"of no cluster is nothing":  {[]string{"__complete", "status", "--context", "nowhere", ""}, ":4"},
		"of one Kyma only with get": {[]string{"__complete", "kyma", "get", "a", ""}, ":4"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, _, _ := kyma(t, config, c.args...)
			if !strings.Contains(out, c.want) {
				t.Errorf("completes to %q, want %q", out, c.want)
			}
		})
	}
}

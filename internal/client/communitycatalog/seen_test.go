package communitycatalog

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func version(number int64) Catalog { return Catalog{Freshness: Freshness{Version: number}} }

// stored returns the ConfigMap of a source.
func stored(t *testing.T, c client.Client, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	var there corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: sourcePrefix + name}, &there); err != nil {
		t.Fatal(err)
	}
	return &there
}

func TestSeen_WhatWasSeenOfASource(t *testing.T) {
	c, namespace := admin(t)
	shelf := SourceStore{Client: c, Namespace: namespace}
	source := Source{Name: "ours", URL: catalogAddress, Key: testKeys(t)["ECDSA"].public}
	if err := shelf.Add(t.Context(), source, false); err != nil {
		t.Fatal(err)
	}
	saw := func(as Source, number, want int64) {
		t.Helper()
		before := stored(t, c, namespace, "ours").ResourceVersion
		had, _ := shelf.Get(t.Context(), "ours")
		if err := shelf.Saw(t.Context(), as, version(number)); err != nil {
			t.Fatal(err)
		}
		got, err := shelf.Get(t.Context(), "ours")
		if err != nil || got.Version != want {
			t.Errorf("version %d was seen, and version %d is kept (%v), want %d", number, got.Version, err, want)
		}
		if wrote := stored(t, c, namespace, "ours").ResourceVersion != before; wrote != (had.Version != want) {
			t.Errorf("version %d was seen: written %t", number, wrote)
		}
	}
	saw(source, 7, 7)
	saw(source, 7, 7)
	saw(source, 6, 7)
	saw(source, 0, 7)
	saw(source, 9, 9)
	other := source
	other.URL = "https://example.org/all-modules.yaml"
	saw(other, 99, 9) // it was read before the source was changed to this one
	other = source
	other.Digest = digestOf(nil)
	saw(other, 99, 9) // requested by digest
	other = source
	other.Key = ""
	saw(other, 99, 9) // no key secures its version
	if err := (SourceStore{Client: c, Namespace: namespace, DryRun: true}).Saw(t.Context(), source, version(99)); err != nil {
		t.Error(err)
	}
	saw(source, 9, 9)

	strict := source
	strict.RequireFreshness = true
	if err := shelf.Add(t.Context(), strict, false); !apierrors.IsAlreadyExists(err) {
		t.Errorf("another one of its name: %v", err)
	}
	if err := shelf.Add(t.Context(), strict, true); err != nil {
		t.Fatal(err)
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || got.Version != 9 || !got.RequireFreshness {
		t.Errorf("asked for in another way, the same catalog is unknown: %+v, %v", got, err)
	}
	if err := shelf.Note(t.Context(), "ours", 3, nil, noon); err != nil {
		t.Fatal(err)
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || got.Version != 9 || got.Modules != 3 {
		t.Errorf("a note forgets what was seen: %+v, %v", got, err)
	}
	moved := source
	moved.URL = "https://example.org/all-modules.yaml"
	if err := shelf.Add(t.Context(), moved, true); err != nil {
		t.Fatal(err)
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || got.Version != 0 || got.RequireFreshness {
		t.Errorf("another catalog is held to what was seen of this one: %+v, %v", got, err)
	}
	if err := shelf.Remove(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	if err := shelf.Saw(t.Context(), moved, version(1)); err != nil {
		t.Errorf("a source that is gone meanwhile: %v", err)
	}
}

// TestSeen_ManySeeASourceAtOnce: regardless of the order, the highest version remains.
func TestSeen_ManySeeASourceAtOnce(t *testing.T) {
	c, namespace := admin(t)
	shelf := SourceStore{Client: c, Namespace: namespace}
	source := Source{Name: "ours", URL: catalogAddress, Key: testKeys(t)["ECDSA"].public}
	if err := shelf.Add(t.Context(), source, false); err != nil {
		t.Fatal(err)
	}
	const readers = 8
	var all sync.WaitGroup
	failed := make([]error, readers+1)
	for number := int64(1); number <= readers; number++ {
		all.Go(func() { failed[number] = shelf.Saw(t.Context(), source, version(number)) })
	}
	all.Go(func() { failed[0] = shelf.Note(t.Context(), "ours", 1, nil, noon) })
	all.Wait()
	for _, err := range failed {
		if err != nil && !apierrors.IsConflict(err) {
			t.Error(err)
		}
	}
	if failed[readers] != nil {
		t.Fatal(failed[readers])
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || got.Version != readers {
		t.Errorf("version %d is kept, %v", got.Version, err)
	}
}

// readerOf returns a client that may read ConfigMaps, and nothing else.
func readerOf(t *testing.T, admin client.Client, namespace string) client.Client {
	t.Helper()
	rule := rbacv1.PolicyRule{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "reader"}
	create(t, admin, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
	})
	apiserver.Allowed(t, admin, "reader", namespace, rule)
	return asUser(t, "reader")
}

// asUser returns a client that impersonates a user.
func asUser(t *testing.T, name string) client.Client {
	t.Helper()
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.Impersonate.UserName = name
	made, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestSeen_AReaderIsHeldToWhatOthersSaw: the version that others saw counts for a reader, who may not write the one that it sees itself.
func TestSeen_AReaderIsHeldToWhatOthersSaw(t *testing.T) {
	c, namespace := admin(t)
	key := testKeys(t)["ECDSA"]
	var serves atomic.Value
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if files, is := serves.Load().(map[string]string); is {
			serving(files)(w, r)
		}
	})
	serve := func(number int64) {
		data := dated(t, number, noon.AddDate(1, 0, 0)).YAML
		serves.Store(map[string]string{"/all-modules.yaml": string(data), "/all-modules.yaml.sig": string(key.sign(t, data))})
	}
	limits := near(s.Server)
	limits.Now = func() time.Time { return noon }
	shelf := SourceStore{Client: c, Namespace: namespace}
	source := Source{Name: "ours", URL: s.URL + "/all-modules.yaml", Key: key.public, Version: 7}
	if err := shelf.Add(t.Context(), source, false); err != nil {
		t.Fatal(err)
	}
	reader := SourceStore{Client: readerOf(t, c, namespace), Namespace: namespace}
	kept, err := reader.Get(t.Context(), "ours")
	if err != nil {
		t.Fatal(err)
	}
	serve(6)
	if _, _, err := Fetch(t.Context(), kept, limits); err == nil {
		t.Error("a reader takes an old catalog")
	}
	serve(8)
	found, _, err := Fetch(t.Context(), kept, limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Saw(t.Context(), kept, found); !apierrors.IsForbidden(err) {
		t.Errorf("it is written without the right to: %v", err)
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || got.Version != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSeen_ABrokenVersion(t *testing.T) {
	c, namespace := admin(t)
	shelf := SourceStore{Client: c, Namespace: namespace}
	source := Source{Name: "ours", URL: catalogAddress, Key: testKeys(t)["ECDSA"].public, Version: 7}
	if err := shelf.Add(t.Context(), source, false); err != nil {
		t.Fatal(err)
	}
	there := stored(t, c, namespace, "ours")
	there.Data[keyVersion] = "seven"
	if err := c.Update(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	if got, err := shelf.Get(t.Context(), "ours"); err != nil || got.URL != "" || got.Error == "" {
		t.Errorf("it is asked as if nothing had been seen: %+v, %v", got, err)
	}
	if err := shelf.Add(t.Context(), source, true); err != nil {
		t.Errorf("it cannot be put right: %v", err)
	}
}

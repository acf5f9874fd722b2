package rootcause

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const password = "hunter2-and-more"

// hostile returns evidence in which a text stands wherever a cluster chooses one, and a name wherever it chooses that.
func hostile(text, name string) Evidence {
	d := deployment()
	r := replicas(d)
	r.Status.Replicas = 0
	p := pod(r, waiting(text, text), container(func(s *corev1.ContainerStatus) {
		s.Name, s.Image = name, text
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: text}
	}), crashed(1, text, 3))
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta("login"), Data: map[string][]byte{"password": []byte(password)},
	}
	other := leaving(text)
	other.Name = name
	m := greeter(func(m *modulestatus.Module) {
		m.Resource = &modulestatus.Ref{Kind: name, Name: name}
		m.Installation.Message, m.Module = text, modulestatus.Condition{State: modulestatus.Error, Message: text}
	})
	e := seen(m, d, r, p, secret, other, pod(r, unscheduled(text)), claim(&text, corev1.ClaimPending)).logged(text, text)
	e.Missing = []modulestatus.Ref{{Kind: name, Namespace: name, Name: name}}
	e.Unread = []Unread{{"Pod", ns, text}}
	return e.with(event("Pod", p.Name, "Failed", text), event("ReplicaSet", r.Name, "FailedCreate", text), event("PersistentVolumeClaim", "data", text, text))
}

// texts returns every text of a cause.
func texts(c *modulestatus.Cause) []string {
	all := append([]string{c.Sentence, c.Reason, c.Remedy, c.Object.Kind, c.Object.Namespace, c.Object.Name}, c.Also...)
	for _, f := range c.Evidence {
		all = append(all, f.Text, f.Object)
	}
	return all
}

// FuzzHostileTexts checks the laws of every answer: never none, one bounded line of printable characters, no data of Secrets.
func FuzzHostileTexts(f *testing.F) {
	for _, text := range []string{
		"", "a\nb\r\x1b[31mred\x1b[0m\u202egnp.exe\u2028", strings.Repeat("long ", 10_000), "login with " + password, "\xff\xfe\x00",
		"password=" + password + " token: abc", "https://user:" + password + "@registry.example/x", "Authorization: Bearer abcdefghijklmnop",
		base64.StdEncoding.EncodeToString([]byte(password)), "0/99999999999 nodes are available: 1 Insufficient %s%d.", "hunter2-\u200band-more",
		`failed calling webhook "%s": Post "https://a.svc:443/": EOF`, "exceeded quota: a, requested: b, used: c, limited: d",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, one := range texts(cause(t, hostile(text, "other"))) { // names are no secrets
			if strings.Contains(one, password) || strings.Contains(one, base64.StdEncoding.EncodeToString([]byte(password))) {
				t.Errorf("the data of a Secret: %q", one)
			}
		}
		c := cause(t, hostile(text, text))
		if c.Sentence == "" || c.Reason == "" {
			t.Errorf("an empty answer: %+v", c)
		}
		if len(c.Sentence) > MostSentence || len(c.Also) > mostAlso || len(c.Evidence) > mostFacts+mostUnread {
			t.Errorf("an answer without bounds: %d bytes, %d others, %d facts", len(c.Sentence), len(c.Also), len(c.Evidence))
		}
		for _, one := range texts(c) {
			if len(one) > MostFact || !utf8.ValidString(one) || strings.ContainsFunc(one, func(r rune) bool {
				return !unicode.IsPrint(r)
			}) {
				t.Errorf("not one printable line of at most %d bytes: %q", MostFact, one)
			}
		}
	})
}

// TestEveryModuleThatIsNotReadyHasACause has every state with every phase, without any message.
func TestEveryModuleThatIsNotReadyHasACause(t *testing.T) {
	for _, state := range []modulestatus.State{
		modulestatus.Unmanaged, modulestatus.NotConfigured, modulestatus.Processing, modulestatus.Deleting, modulestatus.Unknown,
		modulestatus.Warning, modulestatus.Error, "Other",
	} {
		for _, phase := range []modulestatus.Phase{
			modulestatus.NotInstalled, modulestatus.Installing, modulestatus.Installed, modulestatus.Upgrading, modulestatus.Removing,
			modulestatus.Failed, modulestatus.LetGo, modulestatus.Orphaned, modulestatus.Obscure, "",
		} {
			m := &modulestatus.Module{Name: "m", State: state, Installation: modulestatus.Installation{State: phase}}
			own := *m
			own.Resource, own.Module.State = &modulestatus.Ref{Kind: "M", Name: "m"}, state
			for _, one := range []*modulestatus.Module{m, &own} {
				if c := Of(Evidence{Module: one}, noon); c == nil || c.Sentence == "" || c.Reason == "" || c.Object.Name == "" || c.Remedy == "" {
					t.Errorf("%s, %s: %+v", state, phase, c)
				}
			}
		}
	}
}

// TestTheOrderOfTheInputsDoesNotMatter shuffles what was read.
func TestTheOrderOfTheInputsDoesNotMatter(t *testing.T) {
	e := hostile("dial tcp: no such host", "other")
	want := cause(t, e)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(e.Objects), func(i, j int) { e.Objects[i], e.Objects[j] = e.Objects[j], e.Objects[i] })
		random.Shuffle(len(e.Events), func(i, j int) { e.Events[i], e.Events[j] = e.Events[j], e.Events[i] })
		random.Shuffle(len(e.Looked), func(i, j int) { e.Looked[i], e.Looked[j] = e.Looked[j], e.Looked[i] })
		if got := cause(t, e); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order gives another answer:\n%+v\n%+v", got, want)
		}
	}
}

// FuzzHostileObjects takes objects of any shape: a server may serve what no API server would.
func FuzzHostileObjects(f *testing.F) {
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"Pod","status":{"phase":"Pending","conditions":[1,{"type":"PodScheduled","status":"False"}]}}`,
		`{"apiVersion":"v1","kind":"Pod","status":{"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`,
		`{"apiVersion":"v1","kind":"Pod","status":"x","metadata":{"ownerReferences":[{"uid":"a"}],"uid":"a"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"uid":"a","ownerReferences":[{"uid":"a"}]},"spec":[],"status":{"conditions":{}}}`,
		`{"apiVersion":"batch/v1","kind":"Job","status":{"conditions":[{"type":"Failed","status":"True","lastTransitionTime":"x"}]}}`,
		`{"kind":"PersistentVolumeClaim","apiVersion":"v1","status":{"phase":"Pending"},"spec":{"storageClassName":7}}`,
		`{"kind":"Secret","apiVersion":"v1","data":[1]}`, `{"kind":"Namespace","apiVersion":"v1","metadata":{"deletionTimestamp":"2029-01-01T00:00:00Z"},"spec":{"finalizers":[1]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		object := map[string]any{}
		if json.Unmarshal(data, &object) != nil {
			return
		}
		e := running(crashed(1, "Error", 2))
		e.Objects = append(e.Objects, &unstructured.Unstructured{Object: object}, nil, &unstructured.Unstructured{})
		if c := cause(t, e); c.Sentence == "" || len(c.Sentence) > MostSentence {
			t.Errorf("got %+v", c)
		}
	})
}

func TestAge(t *testing.T) {
	for minutes, want := range map[int]string{0: "less than a minute", 1: "1 min", 59: "59 min", 60: "1 h", 47 * 60: "47 h", 48 * 60: "2 days"} {
		if got := Age(before(minutes).Time, noon); got != want {
			t.Errorf("%d minutes are %q, want %q", minutes, got, want)
		}
	}
	if got := Age(before(-5).Time, noon) + Age(metav1.Time{}.Time, noon); got != "" {
		t.Errorf("a time in the future, or none, has the age %q", got)
	}
}

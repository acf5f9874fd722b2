package rootcause

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestEach_JudgesEveryObjectThatFails(t *testing.T) {
	d := deployment()
	r := replicas(d)
	one := pod(r, waiting("ErrImagePull", "manifest unknown"))
	other := pod(r, crashed(2, "Error", 3))
	other.Name, other.UID = "greeter-7d9-y", "other"
	judged := Each(seen(greeter(), d, r, one, other), noon)
	reasons := map[string]string{}
	for _, j := range judged {
		reasons[j.Object.Name] = j.Reason
		if !j.Severe || j.Remedy == "" || !strings.Contains(j.Sentence, j.Object.Name) {
			t.Errorf("%+v", j)
		}
	}
	if len(judged) != 2 || reasons["greeter-7d9-x"] != ImageNotFound || reasons["greeter-7d9-y"] != Crashing {
		t.Errorf("%+v", judged)
	}
}

func TestEach_AgreesWithTheCause(t *testing.T) {
	e := running(waiting("ErrImagePull", "manifest unknown"))
	c, judged := cause(t, e), Each(e, noon)
	if len(judged) != 1 || judged[0].Object != c.Object || judged[0].Reason != c.Reason || judged[0].Sentence != c.Sentence {
		t.Errorf("%+v\n%+v", judged, c)
	}
}

func TestEach_SaysNothingOfWhatIsOnlyNotReady(t *testing.T) {
	m := greeter(func(m *modulestatus.Module) { m.State = modulestatus.Ready })
	d := deployment()
	if judged := Each(seen(m, d, replicas(d)), noon); len(judged) != 0 {
		t.Errorf("%+v", judged)
	}
	if judged := Each(Evidence{}, noon); judged != nil {
		t.Errorf("%+v", judged)
	}
}

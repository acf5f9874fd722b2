package conditions_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

var (
	earlier = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	now     = metav1.NewTime(time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC))
)

func ready(change func(*metav1.Condition)) metav1.Condition {
	cond := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: "Applying", Message: "1 of 2 objects", ObservedGeneration: 2,
		LastTransitionTime: earlier,
	}
	change(&cond)
	return cond
}

func TestSet(t *testing.T) {
	before := ready(func(*metav1.Condition) {})
	other := metav1.Condition{Type: "Resources", Status: metav1.ConditionTrue, Reason: "Parsed", LastTransitionTime: earlier}
	first := metav1.Condition{Type: "Installation", Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: earlier}
	list := func(conds ...metav1.Condition) []metav1.Condition { return conds }
	for _, test := range []struct {
		name    string
		conds   []metav1.Condition
		set     metav1.Condition // what to set; its time is ignored
		want    []metav1.Condition
		changed bool
	}{
		{"the first condition is added with the time", nil, before,
			list(ready(func(c *metav1.Condition) { c.LastTransitionTime = now })), true},
		{"a new condition is inserted by its type", list(first, other), before,
			list(first, ready(func(c *metav1.Condition) { c.LastTransitionTime = now }), other), true},
		{"the same condition changes nothing", list(before, other), before, list(before, other), false},
		{"another status moves the time", list(before), ready(func(c *metav1.Condition) { c.Status = metav1.ConditionTrue }),
			list(ready(func(c *metav1.Condition) { c.Status, c.LastTransitionTime = metav1.ConditionTrue, now })), true},
		{"another reason does not move the time", list(before), ready(func(c *metav1.Condition) { c.Reason = "Other" }),
			list(ready(func(c *metav1.Condition) { c.Reason = "Other" })), true},
		{"another message does not move the time", list(before), ready(func(c *metav1.Condition) { c.Message = "2 of 2 objects" }),
			list(ready(func(c *metav1.Condition) { c.Message = "2 of 2 objects" })), true},
		{"another generation does not move the time", list(before), ready(func(c *metav1.Condition) { c.ObservedGeneration = 3 }),
			list(ready(func(c *metav1.Condition) { c.ObservedGeneration = 3 })), true},
		{"a missing time is set", list(ready(func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} })), before,
			list(ready(func(c *metav1.Condition) { c.LastTransitionTime = now })), true},
		{"a list that another user wrote is sorted", list(other, before), before, list(before, other), true},
		{"a duplicate type is kept once", list(before, before, other), before, list(before, other), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.conds
			changed := conditions.Set(&got, test.set.Type, test.set.Status, test.set.Reason, test.set.Message, test.set.ObservedGeneration, now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if changed != test.changed {
				t.Errorf("got changed %v, want %v", changed, test.changed)
			}
		})
	}
}

func TestSetWritesWhatWillBeReadBack(t *testing.T) {
	var written []metav1.Condition
	conditions.Set(&written, "Ready", metav1.ConditionTrue, "Ready", "bytes \xff of a foreign server", 1, metav1.NewTime(now.Add(123456789)))
	data, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	var read []metav1.Condition
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, read); diff != "" {
		t.Error(diff)
	}
}

func TestSetKeepsTheInvariants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	var conds []metav1.Condition
	generation := int64(0)
	for range 2000 {
		generation += int64(random.IntN(2))
		kind := pick("Ready", "Modules", "Resources", "Installation")
		status := metav1.ConditionStatus(pick("True", "False", "Unknown"))
		before := conditions.Find(conds, kind)
		var last metav1.Condition
		if before != nil {
			last = *before
		}
		moment := metav1.NewTime(earlier.Add(time.Duration(random.IntN(1000)) * time.Second))
		conditions.Set(&conds, kind, status, pick("A", "B"), pick("", "text"), generation, moment)
		if broken := conditions.Check(generation, conds); broken != nil {
			t.Fatal(broken)
		}
		after := conditions.Find(conds, kind)
		if last.Status == status && after.LastTransitionTime != last.LastTransitionTime {
			t.Fatalf("the time moved from %v to %v and the status stayed %s", last.LastTransitionTime, after.LastTransitionTime, status)
		}
	}
}

func TestFindAndIsTrue(t *testing.T) {
	conds := []metav1.Condition{
		ready(func(*metav1.Condition) {}),
		{Type: "Resources", Status: metav1.ConditionTrue, ObservedGeneration: 3},
		{Type: "Unclear", Status: metav1.ConditionUnknown},
	}
	for _, test := range []struct {
		name, kind    string
		found, isTrue bool
	}{
		{"a condition that is true", "Resources", true, true},
		{"a condition that is false", "Ready", true, false},
		{"a condition that is unknown is not true", "Unclear", true, false},
		{"a missing condition is not true", "Modules", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := conditions.Find(conds, test.kind)
			if (found != nil) != test.found || found != nil && found.Type != test.kind {
				t.Errorf("found %v", found)
			}
			if got := conditions.IsTrue(conds, test.kind); got != test.isTrue {
				t.Errorf("got %v, want %v", got, test.isTrue)
			}
			if got := conditions.IsTrueAt(conds, test.kind, 3); got != test.isTrue || conditions.IsTrueAt(conds, test.kind, 4) {
				t.Errorf("at generation 3 it is %v, want %v, and at no other", got, test.isTrue)
			}
		})
	}
	conditions.Find(conds, "Ready").Reason = "Changed"
	if conds[0].Reason != "Changed" {
		t.Error("what Find returns is a copy")
	}
}

func TestCheck(t *testing.T) {
	sound := ready(func(*metav1.Condition) {})
	long := make([]byte, conditions.MessageLimit+1)
	for at := range long {
		long[at] = 'x'
	}
	one := func(change func(*metav1.Condition)) []metav1.Condition { return []metav1.Condition{ready(change)} }
	for _, test := range []struct {
		name  string
		conds []metav1.Condition
		want  []string
	}{
		{"no condition breaks nothing", nil, nil},
		{"sound conditions break nothing", []metav1.Condition{sound, ready(func(c *metav1.Condition) { c.Type = "Resources" })}, nil},
		{"a type is needed", one(func(c *metav1.Condition) { c.Type = "" }), []string{"condition 1 has no type"}},
		{"the status is one of three", one(func(c *metav1.Condition) { c.Status = "Yes" }),
			[]string{`condition Ready has the status "Yes", which is none of True, False and Unknown`}},
		{"a reason is needed", one(func(c *metav1.Condition) { c.Reason = "" }),
			[]string{`condition Ready has the reason "", which is no word in CamelCase`}},
		{"a reason is one word in CamelCase", one(func(c *metav1.Condition) { c.Reason = "not found" }),
			[]string{`condition Ready has the reason "not found", which is no word in CamelCase`}},
		{"an observed generation is not a future one", one(func(c *metav1.Condition) { c.ObservedGeneration = 4 }),
			[]string{"condition Ready observed generation 4 of an object at generation 3"}},
		{"a time is needed", one(func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} }),
			[]string{"condition Ready has no lastTransitionTime"}},
		{"a message is bounded", one(func(c *metav1.Condition) { c.Message = string(long) }),
			[]string{"condition Ready has a message of 1025 characters, more than 1024"}},
		{"a type occurs once", []metav1.Condition{sound, sound}, []string{"condition Ready is there twice"}},
		{"the types ascend", []metav1.Condition{sound, ready(func(c *metav1.Condition) { c.Type = "Modules" })},
			[]string{"condition Modules stands behind Ready: not sorted by type"}},
		{"every problem is named", one(func(c *metav1.Condition) { c.Status, c.Reason = "", "x" }), []string{
			`condition Ready has the status "", which is none of True, False and Unknown`,
			`condition Ready has the reason "x", which is no word in CamelCase`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, conditions.Check(3, test.conds)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package server

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const (
	// mostSelector bounds a label selector.
	mostSelector = 1000
	// mostLabels bounds the labels of a Kyma in a list.
	mostLabels = 20
	// mostChoices bounds the values of a filter, and mostLabelValues those of one label: a label with more of them tells Kymas apart.
	mostChoices     = 200
	mostLabelValues = 20
)

// moduleFilters are the parameters that narrow the list of modules.
var moduleFilters = []string{
	"type", "state", "kyma", "outdated", "pending", "namespace", "module", "version", "notVersion", "channel", "reason", "attention", "cause",
	"labelSelector",
}

// moduleFilter decides which modules a list shows.
type moduleFilter struct {
	query    url.Values
	labelled labelFilter
	snapshot *snapshot
	at       time.Time
}

// fits reports whether the module at an index passes every filter.
func (f *moduleFilter) fits(at int) bool {
	m := &f.snapshot.modules[at]
	return f.chosen("type", string(m.Type)) && f.chosen("state", string(m.State)) && f.chosen("kyma", m.Kyma) && f.chosen("module", m.Name) &&
		f.chosen("channel", m.Channel) && f.fitsVersion(m) && f.fitsTrouble(at, m) &&
		flagged(f.query, "outdated", m.Version.Outdated) && flagged(f.query, "pending", m.Pending != nil) &&
		f.labelled.fits(f.snapshot, m.Kyma)
}

func (f *moduleFilter) chosen(name, value string) bool { return chosen(f.query, name, value) }

func (f *moduleFilter) fitsVersion(m *modulestatus.Module) bool {
	namespace, _, _ := strings.Cut(m.Kyma, "/")
	installed := cmp.Or(m.Version.Installed, noVersion)
	return f.chosen("namespace", namespace) && f.chosen("version", installed) && !slices.Contains(f.query["notVersion"], installed)
}

func (f *moduleFilter) fitsTrouble(at int, m *modulestatus.Module) bool {
	if len(f.query["reason"]) > 0 {
		if reason, _ := m.Explanation(); m.State == modulestatus.Ready || !f.chosen("reason", reason) {
			return false
		}
	}
	needs := m.NeedsAttention(f.at)
	return flagged(f.query, "attention", needs) &&
		(len(f.query["cause"]) == 0 || needs && f.chosen("cause", f.snapshot.troubles()[at].ID))
}

// labelFilter selects Kymas by their labels, and modules by those of their Kymas; nil selects all.
type labelFilter struct{ labels.Selector }

// selectorOf reads ?labelSelector=, in the syntax of the API server.
func selectorOf(query url.Values) (labelFilter, error) {
	text := strings.TrimSpace(query.Get("labelSelector"))
	if text == "" {
		return labelFilter{}, nil
	}
	if len(text) > mostSelector {
		return labelFilter{}, fail(http.StatusBadRequest, WhyInvalid, "labelSelector is longer than %d characters", mostSelector)
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return labelFilter{}, fail(http.StatusBadRequest, WhyInvalid,
			"labelSelector cannot be read: %v; write it as for kubectl, such as env=prod,region in (eu,us)", err)
	}
	return labelFilter{selector}, nil
}

func (f labelFilter) fits(s *snapshot, kyma string) bool {
	return f.Selector == nil || kyma != "" && f.Matches(labels.Set(s.labelsOf(kyma)))
}

// labelsOf returns the labels of a Kyma, which is NAMESPACE/NAME; nil where it was not read.
func (s *snapshot) labelsOf(kyma string) map[string]string {
	namespace, name, _ := strings.Cut(kyma, "/")
	at, found := s.kymaAt[modulestatus.Key{Namespace: namespace, Name: name}]
	if !found {
		return nil
	}
	return s.in.Kymas[at].Labels
}

// someLabels returns the first labels by name.
func someLabels(all map[string]string) map[string]string {
	if len(all) <= mostLabels {
		return all
	}
	some := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(all))[:mostLabels] {
		some[key] = all[key]
	}
	return some
}

// filterChoices are the values that filters of lists can have, sorted, and at most mostChoices of each.
type filterChoices struct {
	Channels []string `json:"channels"`
	Versions []string `json:"versions"`
	Modules  []string `json:"modules"`
	Reasons  []string `json:"reasons"`
	// Labels are label selectors: KEY=VALUE, or KEY for a label with many values.
	Labels []string `json:"labels"`
}

// filters answers GET /api/v1/filters: what lists of Kymas and modules can be filtered by.
func (s *Server) filters(ctx context.Context, u *User, r *http.Request) (any, error) {
	if err := known(r.URL.Query()); err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	return now.choices(), nil
}

func (s *snapshot) filterChoices() filterChoices {
	channels, versions, modules, reasons := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range s.modules {
		m := &s.modules[i]
		channels[m.Channel], versions[m.Version.Installed], modules[m.Name] = true, true, true
		if m.State != modulestatus.Ready {
			reason, _ := m.Explanation()
			reasons[reason] = true
		}
	}
	for i := range s.kymas {
		channels[s.kymas[i].Channel], reasons[s.kymas[i].Reason] = true, true
	}
	return filterChoices{
		Channels: choicesOf(channels), Versions: choicesOf(versions), Modules: choicesOf(modules), Reasons: choicesOf(reasons),
		Labels: s.labelChoices(),
	}
}

func (s *snapshot) labelChoices() []string {
	values := map[string]map[string]bool{}
	for i := range s.in.Kymas {
		for key, value := range s.in.Kymas[i].Labels {
			if values[key] == nil {
				values[key] = map[string]bool{}
			}
			if len(values[key]) <= mostLabelValues {
				values[key][value] = true
			}
		}
	}
	all := map[string]bool{}
	for key, of := range values {
		if len(of) > mostLabelValues {
			all[key] = true
			continue
		}
		for value := range of {
			all[key+"="+value] = true
		}
	}
	return choicesOf(all)
}

func choicesOf(values map[string]bool) []string {
	delete(values, "")
	sorted := slices.Sorted(maps.Keys(values))
	return append([]string{}, sorted[:min(len(sorted), mostChoices)]...)
}

// slowestFirst puts what is in progress for long before what has just begun.
func slowestFirst(a, b *modulestatus.Module) int {
	if a.State != modulestatus.Processing || b.State != modulestatus.Processing {
		return 0
	}
	return oldestFirst(a.Since, b.Since)
}

// oldestFirst orders times; those that are unknown come last.
func oldestFirst(a, b *metav1.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(b.Time)
}

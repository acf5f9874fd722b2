package meter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// largestAnswer bounds what is read of metrics and of memory statistics: 5,000 Kymas have some ten thousand series.
	largestAnswer = 256 << 20
	askTimeout    = time.Minute
)

// Exposition is what a program's metrics said at one moment.
type Exposition struct {
	At       time.Time
	families map[string]*dto.MetricFamily
}

// Scrape reads the metrics at a URL, such as http://127.0.0.1:8080/metrics.
func Scrape(ctx context.Context, url string) (*Exposition, error) {
	data, err := get(ctx, url, askTimeout)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s answers something that is no metrics: %w", url, err)
	}
	return &Exposition{At: time.Now(), families: families}, nil
}

// Samples returns the values of all series, those of histograms by bucket.
func (e *Exposition) Samples() (model.Vector, error) {
	families := slices.Collect(maps.Values(e.families))
	return expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(e.At.UnixNano())}, families...)
}

// Has reports whether there is a metric of that name.
func (e *Exposition) Has(name string) bool { return e.families[name] != nil }

// Sum adds the series of a counter or gauge whose labels have the given values: Sum("rest_client_requests_total", "method", "PATCH").
// Of a histogram or summary it adds the number of observations. A metric that is not there, as one that never counted is not, is zero.
func (e *Exposition) Sum(name string, labels ...string) float64 {
	total := 0.0
	for _, m := range e.families[name].GetMetric() {
		if matches(m, labels) {
			total += value(m)
		}
	}
	return total
}

// By adds the series of a metric for each value of one label.
func (e *Exposition) By(name, label string) map[string]float64 {
	totals := map[string]float64{}
	for _, m := range e.families[name].GetMetric() {
		for _, pair := range m.GetLabel() {
			if pair.GetName() == label {
				totals[pair.GetValue()] += value(m)
			}
		}
	}
	return totals
}

// Total adds the sums of what a histogram or summary observed, such as all seconds that reconciles took.
func (e *Exposition) Total(name string, labels ...string) float64 {
	total := 0.0
	for _, m := range e.families[name].GetMetric() {
		if matches(m, labels) {
			total += m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
		}
	}
	return total
}

// Quantile returns the upper bound of the bucket of a histogram in which the share q lies, counted since an earlier exposition (nil for
// the start of the program). It is NaN when nothing was observed, and infinite beyond the last bucket.
func (e *Exposition) Quantile(since *Exposition, q float64, name string, labels ...string) float64 {
	counts := e.buckets(name, labels)
	if since != nil {
		for bound, n := range since.buckets(name, labels) {
			counts[bound] -= n
		}
	}
	bounds := make([]float64, 0, len(counts))
	for bound := range counts {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	if len(bounds) == 0 || counts[bounds[len(bounds)-1]] == 0 {
		return math.NaN()
	}
	wanted := q * counts[bounds[len(bounds)-1]]
	for _, bound := range bounds {
		if counts[bound] >= wanted {
			return bound
		}
	}
	return math.Inf(1)
}

// buckets adds up a histogram's cumulative counts.
func (e *Exposition) buckets(name string, labels []string) map[float64]float64 {
	counts := map[float64]float64{}
	for _, m := range e.families[name].GetMetric() {
		if !matches(m, labels) {
			continue
		}
		for _, b := range m.GetHistogram().GetBucket() {
			counts[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	return counts
}

func value(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() +
		float64(m.GetHistogram().GetSampleCount()) + float64(m.GetSummary().GetSampleCount())
}

func matches(m *dto.Metric, labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		if !slices.ContainsFunc(m.GetLabel(), func(p *dto.LabelPair) bool {
			return p.GetName() == labels[i] && p.GetValue() == labels[i+1]
		}) {
			return false
		}
	}
	return true
}

// get reads an answer in full, up to a bound of size and time.
func get(ctx context.Context, url string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s answers in part: %w", url, err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", url, response.Status)
	}
	return data, nil
}

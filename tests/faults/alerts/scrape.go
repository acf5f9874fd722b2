package alerts

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

// scrapeTimeout is shorter than that of the ServiceMonitor: everything is on one machine.
const scrapeTimeout = 5 * time.Second

// clocks are metrics that are points in time. They are recorded as seconds since the recording began, as promtool's time begins at zero.
var clocks = []string{"lifecycle_mgr_clock_seconds", "process_start_time_seconds"}

// Scraper takes samples of the metrics of managers.
type Scraper struct {
	targets func() []string
	keeps   func(model.Metric) bool

	mutex  sync.Mutex
	began  time.Time
	count  int
	series map[string]map[int]float64
	taken  chan struct{} // closed with the next sample
}

// NewScraper returns a Scraper; keeps says which series are kept, and targets returns the URLs of the managers that should answer at that
// moment.
func NewScraper(keeps func(model.Metric) bool, targets func() []string) *Scraper {
	return &Scraper{targets: targets, keeps: keeps, series: map[string]map[int]float64{}, taken: make(chan struct{})}
}

// Run takes a sample at once, and then one each Interval, until the context ends.
func (s *Scraper) Run(ctx context.Context) {
	s.mutex.Lock()
	s.began = time.Now()
	s.mutex.Unlock()
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		s.sample(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// sample scrapes every target once. One that does not answer is down, which is a sample, too.
func (s *Scraper) sample(ctx context.Context) {
	targets := s.targets()
	found := make([]model.Vector, len(targets))
	var group sync.WaitGroup
	for i, target := range targets {
		group.Go(func() { found[i] = scrape(ctx, target) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i, vector := range found {
		instance := model.LabelValue("manager-" + strconv.Itoa(i+1))
		up := 0.0
		if vector != nil {
			up = 1
		}
		s.keepLocked(model.Metric{model.MetricNameLabel: "up"}, instance, up)
		for _, sample := range vector {
			s.keepLocked(sample.Metric, instance, float64(sample.Value))
		}
	}
	s.count++
	close(s.taken)
	s.taken = make(chan struct{})
}

// scrape returns the samples of a target, nil where it does not answer.
func scrape(ctx context.Context, target string) model.Vector {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	answer, err := meter.Scrape(ctx, target)
	if err != nil {
		return nil
	}
	samples, err := answer.Samples()
	if err != nil {
		return nil
	}
	return samples
}

// keepLocked keeps a sample of a series that the alerts need.
func (s *Scraper) keepLocked(metric model.Metric, instance model.LabelValue, value float64) {
	if !s.keeps(metric) {
		return
	}
	if slices.Contains(clocks, string(metric[model.MetricNameLabel])) {
		value = math.Round(1000*value-float64(s.began.UnixMilli())) / 1000
	}
	labelled := metric.Clone()
	labelled[model.InstanceLabel] = instance
	series := labelled.String()
	if s.series[series] == nil {
		s.series[series] = map[int]float64{}
	}
	s.series[series][s.count] = value
}

// Last returns the number of the last sample, counted from 0; -1 before the first.
func (s *Scraper) Last() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.count - 1
}

// Await returns when a sample of that number was taken.
func (s *Scraper) Await(ctx context.Context, number int) error {
	for {
		s.mutex.Lock()
		count, taken := s.count, s.taken
		s.mutex.Unlock()
		if count > number {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the recording was interrupted")
		case <-taken:
		}
	}
}

// Fill puts the samples into a recording, without counters that stayed at zero: from these, nothing can ring.
func (s *Scraper) Fill(r *Recording) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r.Samples, r.Series = s.count, Series{}
	for series, samples := range s.series {
		name, _, _ := strings.Cut(series, "{")
		if !strings.HasSuffix(name, "_total") || slices.Max(slices.Collect(maps.Values(samples))) > 0 {
			r.Series[series] = encode(samples, s.count)
		}
	}
}

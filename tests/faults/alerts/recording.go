package alerts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Interval is the pause between two samples, and between two evaluations of the rules: that of the ServiceMonitor.
const Interval = 15 * time.Second

// Recording is what a manager published while something was broken, and after it. Only series of metrics that the alerts need are in it.
type Recording struct {
	// Fault and Form name what was broken, and Operation what was done meanwhile; Clean has no fault.
	Fault     string `json:"fault"`
	Form      string `json:"form,omitempty"`
	Operation string `json:"operation"`
	// Manager is the commit of the manager, and At when it was recorded.
	Manager string `json:"manager"`
	At      string `json:"at"`
	// Samples is the number of samples, one each Interval. Began is the last one before the fault was brought about, Struck the last one
	// before it was there, and Mended the last one before it was over; all count from 0.
	Samples int    `json:"samples"`
	Began   int    `json:"began"`
	Struck  int    `json:"struck"`
	Mended  int    `json:"mended"`
	Series  Series `json:"series"`
}

// Series are samples by series, without the label job: "1*3 _ 2" is three times 1, none, and 2. In a file each has a line.
type Series map[string]string

// MarshalJSON implements json.Marshaler.
func (s Series) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		text.WriteString(name + " " + s[name] + "\n")
	}
	return json.Marshal(text.String())
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Series) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*s = Series{}
	for line := range strings.Lines(text) {
		end := strings.LastIndex(line, "} ")
		if end < 0 {
			return fmt.Errorf("%q is no series: write name{labels} and its samples", line)
		}
		(*s)[line[:end+1]] = strings.TrimSpace(line[end+2:])
	}
	return nil
}

// Clean is the name of the recording without a fault.
const Clean = "clean"

// absent stands for a sample that is not there.
const absent = "_"

// encode writes the samples of a series, by their number.
func encode(samples map[int]float64, count int) string {
	var words []string
	repeated := 0
	flush := func(word string) {
		if repeated > 1 {
			word += "*" + strconv.Itoa(repeated)
		}
		words = append(words, word)
	}
	last := ""
	for i := range count {
		word := absent
		if value, there := samples[i]; there {
			word = strconv.FormatFloat(value, 'f', -1, 64)
		}
		if word != last && i > 0 {
			flush(last)
			repeated = 0
		}
		last = word
		repeated++
	}
	if count > 0 {
		flush(last)
	}
	return strings.Join(words, " ")
}

// decode returns one word for each sample.
func decode(text string) ([]string, error) {
	var samples []string
	for word := range strings.FieldsSeq(text) {
		value, times, many := strings.Cut(word, "*")
		count := 1
		if many {
			var err error
			if count, err = strconv.Atoi(times); err != nil || count < 1 {
				return nil, fmt.Errorf("%q is no sample: write a number, or %s, and *COUNT behind it", word, absent)
			}
		}
		if _, err := strconv.ParseFloat(value, 64); err != nil && value != absent {
			return nil, fmt.Errorf("%q is no sample: write a number, or %s, and *COUNT behind it", word, absent)
		}
		samples = append(samples, slices.Repeat([]string{value}, count)...)
	}
	return samples, nil
}

// unfit are characters that names of files do not have.
var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// file returns the path of the recording of a fault.
func file(dir, fault string) string {
	return filepath.Join(dir, strings.Trim(unfit.ReplaceAllString(strings.ToLower(fault), "-"), "-")+".yaml")
}

// Write stores a recording in a folder, in place of an earlier one.
func (r *Recording) Write(dir string) error {
	data, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(file(dir, r.Fault), data, 0o600)
}

// Read reads the recording of a fault from a folder.
func Read(dir, fault string) (*Recording, error) {
	name := file(dir, fault)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &Recording{}
	if err := yaml.UnmarshalStrict(data, r); err != nil {
		return nil, fmt.Errorf("%s is no recording: %w", name, err)
	}
	return r, cmp.Or(r.check(fault), r.checkSeries())
}

func (r *Recording) check(fault string) error {
	switch {
	case r.Fault != fault:
		return fmt.Errorf("the recording is one of %q, not of %q", r.Fault, fault)
	case r.Began < 0 || r.Struck < r.Began || r.Mended < r.Struck || r.Samples <= r.Mended:
		return fmt.Errorf("%s: the moments %d, %d and %d of %d samples are not in order", fault, r.Began, r.Struck, r.Mended, r.Samples)
	}
	return nil
}

func (r *Recording) checkSeries() error {
	for _, series := range slices.Sorted(maps.Keys(r.Series)) {
		samples, err := decode(r.Series[series])
		if err != nil {
			return fmt.Errorf("%s: %s: %w", r.Fault, series, err)
		}
		if len(samples) != r.Samples {
			return fmt.Errorf("%s: %s has %d samples, want %d", r.Fault, series, len(samples), r.Samples)
		}
	}
	return nil
}

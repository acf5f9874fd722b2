package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	okVerdict     = "ok"
	failedVerdict = "FAILED"
	overBudget    = "OVER BUDGET"
)

// result is the result of a stage.
type result struct {
	// Place is the number of the stage in the order of their starts, such as 002; with a parent, appended to the parent's, such as 002.000.
	Place  string        `json:"place"`
	Target string        `json:"target"`
	Budget time.Duration `json:"budget"`
	Began  time.Time     `json:"began"`
	Took   time.Duration `json:"took"`
	// CPU is the processor time of the target and of all programs that it waited for.
	CPU    time.Duration `json:"cpu"`
	Failed bool          `json:"failed"`
}

func (r *result) verdict() string {
	switch {
	case r.Failed:
		return failedVerdict
	case r.Budget > 0 && r.Took > r.Budget:
		return overBudget
	default:
		return okVerdict
	}
}

// depth returns how many stages enclose this one.
func (r *result) depth() int { return strings.Count(r.Place, ".") }

func recordFile(dir, place string) string { return filepath.Join(dir, "stage-"+place+".json") }

// reserve takes the next place below a parent, which is "" for the outermost. A stage takes its place when it starts.
func reserve(dir, parent string) (string, error) {
	for number := 0; ; number++ {
		place := fmt.Sprintf("%03d", number)
		if parent != "" {
			place = parent + "." + place
		}
		file, err := os.OpenFile(recordFile(dir, place), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return place, file.Close()
		}
		if !os.IsExist(err) {
			return "", err
		}
	}
}

func (r *result) write(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(recordFile(dir, r.Place), data, 0o600)
}

// readRecord returns the results of all stages that ended, in the order in which they started, each followed by those inside it.
func readRecord(dir string) ([]result, error) {
	files, err := filepath.Glob(filepath.Join(dir, "stage-*.json"))
	if err != nil {
		return nil, err
	}
	var results []result
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if len(data) == 0 { // it did not end
			continue
		}
		var r result
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		results = append(results, r)
	}
	slices.SortFunc(results, func(a, b result) int { return strings.Compare(a.Place, b.Place) })
	return results, nil
}

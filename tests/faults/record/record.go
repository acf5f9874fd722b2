// Package record stores which points of a fault run were tried, and how they ended.
//
// Every point has its own file, so that a run of hours can be interrupted, resumed, and divided among machines.
//
// The package has no knowledge of what a point is, and never reports an untried one as passed.
package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Point is one try.
type Point struct {
	// Suite is the kind of point: crash, views, matrix, soak.
	Suite string `json:"suite"`
	// Name is unique in its suite: "install/hub/3/after".
	Name string `json:"name"`
	// Operation and Fault group points in tables.
	Operation string `json:"operation,omitempty"`
	Fault     string `json:"fault,omitempty"`
	// Passed reports whether there were no Problems.
	Passed bool `json:"passed"`
	// Problems are described as sentences.
	Problems []string `json:"problems,omitempty"`
	// Took is how long it took, and Converged the time from the end of the fault until everything was in order, in seconds.
	Took      float64 `json:"took"`
	Converged float64 `json:"converged,omitempty"`
	// Seed is the one that chose it, and At when it was tried.
	Seed uint64    `json:"seed,omitempty"`
	At   time.Time `json:"at"`
	// Detail is anything else worth reading.
	Detail map[string]string `json:"detail,omitempty"`
}

// Book is a folder of points.
type Book struct{ dir string }

// Open opens a folder, and creates it if it does not exist.
func Open(dir string) (*Book, error) { return &Book{dir: dir}, os.MkdirAll(dir, 0o750) }

var unfit = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (b *Book) path(suite, name string) string {
	return filepath.Join(b.dir, suite, unfit.ReplaceAllString(name, "_")+".json")
}

// Done reports whether a point was tried and passed; a failed one is worth another try.
func (b *Book) Done(suite, name string) bool {
	point, err := read(b.path(suite, name))
	return err == nil && point.Passed && point.Name == name
}

// Write stores a point, replacing an earlier try.
func (b *Book) Write(point Point) error {
	point.Passed = len(point.Problems) == 0
	data, err := json.MarshalIndent(point, "", "  ")
	if err != nil {
		return err
	}
	path := b.path(point.Suite, point.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// All returns the points of a suite, sorted by name.
func (b *Book) All(suite string) ([]Point, error) {
	files, err := filepath.Glob(filepath.Join(b.dir, suite, "*.json"))
	if err != nil {
		return nil, err
	}
	var points []Point
	for _, file := range files {
		point, err := read(file)
		if err != nil {
			return nil, err
		}
		points = append(points, point)
	}
	slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(a.Name, b.Name) })
	return points, nil
}

func read(file string) (Point, error) {
	var point Point
	data, err := os.ReadFile(file)
	if err != nil {
		return point, err
	}
	if err := json.Unmarshal(data, &point); err != nil {
		return point, fmt.Errorf("%s is no point: %w", file, err)
	}
	return point, nil
}

// Choice selects points, the same ones for the same values.
type Choice struct {
	// Seed determines the order in which a sample is drawn.
	Seed uint64
	// Sample is the number of points; 0 means all.
	Sample int
	// Part and Parts select one part of several, counted from 1; 0 Parts means all.
	Part, Parts int
	// Only selects points whose name it matches; nil means all.
	Only *regexp.Regexp
}

// ParseSlice reads "2/5".
func ParseSlice(text string) (part, parts int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, second, found := strings.Cut(text, "/")
	part, partErr := strconv.Atoi(first)
	parts, partsErr := strconv.Atoi(second)
	if !found || errors.Join(partErr, partsErr) != nil || part < 1 || part > parts {
		return 0, 0, fmt.Errorf("slice %q: write it as 2/5, the second of five", text)
	}
	return part, parts, nil
}

// Pick applies a Choice: first the names, then the sample, then the part. The result keeps its order.
func Pick[T any](c Choice, all []T, name func(T) string) []T {
	var picked []int
	for i := range all {
		if c.Only == nil || c.Only.MatchString(name(all[i])) {
			picked = append(picked, i)
		}
	}
	if c.Sample > 0 && c.Sample < len(picked) {
		order := func(i int) uint64 { return drawn(c.Seed, name(all[i])) }
		slices.SortFunc(picked, func(a, b int) int { return cmp.Compare(order(a), order(b)) })
		picked = picked[:c.Sample]
		slices.Sort(picked)
	}
	var result []T
	for at, i := range picked {
		if c.Parts == 0 || at%c.Parts == c.Part-1 {
			result = append(result, all[i])
		}
	}
	return result
}

// drawn returns the position of a name for a seed. It does not depend on the others, of which there may be more or fewer in another run.
func drawn(seed uint64, name string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s", seed, name)) // neighbours have nothing in common
	return binary.BigEndian.Uint64(sum[:])
}

// Shuffle puts all into an order that the seed determines.
func Shuffle[T any](seed uint64, all []T) {
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

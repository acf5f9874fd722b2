package generated

import (
	"encoding/json"
	"maps"
)

// releaseKey is the name of a source's release among its values. No call has it: the name of one begins with a file.
const releaseKey = "release"

// Release is what one release of a source was rendered with beside the values that it generated. Where the content or the values of the
// installation are others, it is another release.
type Release struct {
	// Inputs identify the content and the values of the installation.
	Inputs string `json:"inputs"`
	// Revision counts the releases from 1.
	Revision int `json:"revision"`
	// Found are the answers of the cluster to what was looked up, by render.Lookup.String; null stands for what was not there.
	Found map[string]json.RawMessage `json:"found,omitempty"`
}

// Release returns the release of a source that is kept, a copy; nil where there is none.
func (s Store) Release(source string) *Release {
	release, _ := readRelease(s.Values[source])
	return release
}

// Before is what an installation had of a source that kept no release.
type Before int

const (
	// Nothing: no object of the installation was applied.
	Nothing Before = iota
	// SameContent: the content that is rendered now was installed, by a version of the program that kept no releases.
	SameContent
	// OtherContent: something else was installed, or it is not known what.
	OtherContent
)

// Next returns the release that a source is rendered for, a copy, and whether it may ask the cluster for what it has not found yet.
//  1. Other inputs than those of the release before are the next one.
//  2. What was installed without a release goes on as it was rendered, with nothing found, and other content is an upgrade of it.
func (s Store) Next(source, inputs string, before Before) (release *Release, asks bool) {
	kept, next := s.Release(source), &Release{Inputs: inputs, Revision: 1, Found: map[string]json.RawMessage{}}
	switch {
	case kept != nil && kept.Inputs == inputs:
		return kept, true
	case kept != nil:
		next.Revision = kept.Revision + 1
	case before == SameContent:
		return next, false
	case before == OtherContent:
		next.Revision = 2
	}
	return next, true
}

// HasResults reports whether there are values of generators among those of a source, and not its release alone.
func HasResults(values map[string]json.RawMessage) bool {
	_, releases := values[releaseKey]
	return len(values) > 1 || len(values) == 1 && !releases
}

// WithRelease returns a copy of values with a release among them.
func WithRelease(values map[string]json.RawMessage, release *Release) map[string]json.RawMessage {
	encoded, err := json.Marshal(release)
	if err != nil {
		panic(err) // what is no JSON was never an answer
	}
	all := maps.Clone(values)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	all[releaseKey] = encoded
	return all
}

// readRelease reports whether there is no release, or one that can be read.
func readRelease(values map[string]json.RawMessage) (release *Release, ok bool) {
	encoded, there := values[releaseKey]
	if !there {
		return nil, true
	}
	release = &Release{}
	if json.Unmarshal(encoded, release) != nil || release.Revision < 1 {
		return nil, false
	}
	if release.Found == nil {
		release.Found = map[string]json.RawMessage{}
	}
	return release, true
}

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

package assignment

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Buckets is the number of buckets. It never changes: two replicas that disagree about it would both own the same Kyma.
const Buckets = 64

// BucketAssignment is the assignment of one bucket.
type BucketAssignment struct {
	// Owner is the only replica that may work on it; empty: none.
	Owner string
	// Next is the replica that gets it as soon as the owner has released it; empty: it stays.
	Next string
}

// Assignment holds all buckets.
type Assignment [Buckets]BucketAssignment

// written is the encoded form of an Assignment: buckets by name of the replica, for users to read.
type written struct {
	Owner map[string][]int `json:"owner"`
	Next  map[string][]int `json:"next,omitempty"`
}

// Encode returns an Assignment as text. Equal ones have the same text.
func (t *Assignment) Encode() string {
	spelled := written{Owner: map[string][]int{}, Next: map[string][]int{}}
	for bucket, share := range t {
		if share.Owner != "" {
			spelled.Owner[share.Owner] = append(spelled.Owner[share.Owner], bucket)
		}
		if share.Next != "" {
			spelled.Next[share.Next] = append(spelled.Next[share.Next], bucket)
		}
	}
	text, err := json.Marshal(spelled)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}

// Decode parses an Assignment. One that names a bucket twice, or one that does not exist, is refused as a whole.
func Decode(text string) (Assignment, error) {
	var table Assignment
	var spelled written
	if err := json.Unmarshal([]byte(text), &spelled); err != nil {
		return table, fmt.Errorf("the table of buckets cannot be read: %w", err)
	}
	if err := fill(spelled.Owner, func(bucket int) *string { return &table[bucket].Owner }); err != nil {
		return Assignment{}, err
	}
	if err := fill(spelled.Next, func(bucket int) *string { return &table[bucket].Next }); err != nil {
		return Assignment{}, err
	}
	return table, nil
}

func fill(from map[string][]int, at func(bucket int) *string) error {
	for name, buckets := range from {
		for _, bucket := range buckets {
			if bucket < 0 || bucket >= Buckets || name == "" {
				return fmt.Errorf("the table of buckets gives bucket %d to %q: there is no such bucket or no such replica", bucket, name)
			}
			place := at(bucket)
			if *place != "" {
				return fmt.Errorf("the table of buckets gives bucket %d to %q and to %q", bucket, *place, name)
			}
			*place = name
		}
	}
	return nil
}

// Names returns all replicas that an Assignment names, sorted.
func (t *Assignment) Names() []string {
	var names []string
	for _, share := range t {
		for _, name := range []string{share.Owner, share.Next} {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Release hands over the buckets that have a next owner and that their owner is done with. It reports whether there were any.
func (t *Assignment) Release(owner string, done func(bucket int) bool) bool {
	released := false
	for bucket := range t {
		if share := &t[bucket]; share.Owner == owner && share.Next != "" && done(bucket) {
			share.Owner, share.Next, released = share.Next, "", true
		}
	}
	return released
}

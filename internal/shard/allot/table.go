package allot

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Buckets is how many buckets there are. It never changes: two replicas that disagree about it would both own the same Kyma.
const Buckets = 64

// Share is one bucket.
type Share struct {
	// Owner is who alone may work on it; empty: nobody.
	Owner string
	// Next is who gets it as soon as the owner has let go; empty: it stays.
	Next string
}

// Table is all buckets.
type Table [Buckets]Share

// written is how a Table is spelled: buckets by name of the replica, for people to read.
type written struct {
	Owner map[string][]int `json:"owner"`
	Next  map[string][]int `json:"next,omitempty"`
}

// Encode spells a Table. Equal Tables are spelled the same way.
func (t *Table) Encode() string {
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

// Decode reads a Table. One that names a bucket twice, or one that does not exist, is refused as a whole.
func Decode(text string) (Table, error) {
	var table Table
	var spelled written
	if err := json.Unmarshal([]byte(text), &spelled); err != nil {
		return table, fmt.Errorf("the table of buckets cannot be read: %w", err)
	}
	if err := fill(spelled.Owner, func(bucket int) *string { return &table[bucket].Owner }); err != nil {
		return Table{}, err
	}
	if err := fill(spelled.Next, func(bucket int) *string { return &table[bucket].Next }); err != nil {
		return Table{}, err
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

// Names are all replicas that a Table names, sorted.
func (t *Table) Names() []string {
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

// Release hands on what its owner is done with: those of the buckets that somebody is to get next. It says whether there were any.
func (t *Table) Release(owner string, done func(bucket int) bool) bool {
	released := false
	for bucket := range t {
		if share := &t[bucket]; share.Owner == owner && share.Next != "" && done(bucket) {
			share.Owner, share.Next, released = share.Next, "", true
		}
	}
	return released
}

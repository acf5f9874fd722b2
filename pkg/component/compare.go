package component

import (
	"fmt"
	"slices"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/opencontainers/go-digest"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// difference compares a component version with the existing one, and returns the first difference as seen from either side. It returns two
// empty strings if they are equal; signatures, and digests that only one of them has, do not count.
func difference(offered, there *descriptor.Document) (ours, theirs string, err error) {
	for _, pair := range pairs(offered.Component, there.Component) {
		if pair[0] != pair[1] {
			return pair[0], pair[1], nil
		}
	}
	one, other, err := alike(offered.Text, there.Text)
	if err != nil || one == other {
		return "", "", err
	}
	return "a descriptor " + one.String(), "a descriptor " + other.String(), nil
}

// pairs returns descriptions of everything that is compared, each for both sides.
func pairs(offered, there *descriptor.Component) [][2]string {
	found := [][2]string{
		{"schema " + offered.Schema, "schema " + there.Schema},
		{"provider " + offered.Provider, "provider " + there.Provider},
		{"labels " + describeLabels(offered.Labels), "labels " + describeLabels(there.Labels)},
	}
	for i := range max(len(offered.Resources), len(there.Resources)) {
		pair := [2]string{"no further resource", "no further resource"}
		var one, other *descriptor.DigestSpec
		if i < len(offered.Resources) {
			pair[0], one = describe(offered.Resources[i]), offered.Resources[i].Digest
		}
		if i < len(there.Resources) {
			pair[1], other = describe(there.Resources[i]), there.Resources[i].Digest
		}
		if pair[0] == pair[1] && one != nil && other != nil {
			pair[0], pair[1] = pair[0]+" of digest "+one.Value, pair[1]+" of digest "+other.Value
		}
		found = append(found, pair)
	}
	return found
}

// describe returns one line with everything about a resource that is compared.
func describe(r descriptor.Resource) string {
	text := fmt.Sprintf("resource %s of type %s with %s %s",
		r.Name, r.Type, r.Access.MediaType, r.Access.LocalReference+r.Access.ImageReference)
	if len(r.Labels) > 0 {
		text += " and labels " + describeLabels(r.Labels)
	}
	return text
}

func describeLabels(labels []descriptor.Label) (text string) {
	for i, label := range labels {
		if i > 0 {
			text += ", "
		}
		text += label.Name + "=" + string(label.Value)
	}
	return text
}

// alike returns digests of two descriptors that are equal when the descriptors are: without signatures, without the locations that they had
// before, and without digests of resources that only one of them has.
func alike(offered, there []byte) (one, other digest.Digest, err error) {
	mine, err := compdesc.Decode(offered)
	if err != nil {
		return "", "", fmt.Errorf("read descriptor: %w", err)
	}
	theirs, err := compdesc.Decode(there)
	if err != nil {
		return "", "", fmt.Errorf("read descriptor: %w", err)
	}
	for i := range min(len(mine.Resources), len(theirs.Resources)) {
		if mine.Resources[i].Digest == nil || theirs.Resources[i].Digest == nil {
			mine.Resources[i].Digest, theirs.Resources[i].Digest = nil, nil
		}
	}
	for _, document := range []*compdesc.ComponentDescriptor{mine, theirs} {
		document.Signatures, document.RepositoryContexts, document.NestedDigests = nil, nil, nil
		text, err := compdesc.Encode(compdesc.DefaultComponent(document))
		if err != nil {
			return "", "", fmt.Errorf("write descriptor: %w", err)
		}
		one, other = other, digest.FromBytes(text)
	}
	return one, other, nil
}

// lacks reports whether one has a signature that other does not have.
func lacks(other, one *descriptor.Component) bool {
	return slices.ContainsFunc(one.Signatures, func(signature descriptor.Signature) bool {
		return !slices.Contains(other.Signatures, signature)
	})
}

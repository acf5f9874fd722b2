package inventory

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefinitionDigest identifies everything of a CustomResourceDefinition but its UID and its status, by its metadata alone: while it stays,
// so do spec, labels, annotations, who wrote them, and whether it is being deleted. The resourceVersion does not tell that, because the API
// server moves it with every step of establishing the definition.
//
// The API server counts the changes of a spec in the generation, which no client can set. When each client wrote last counts too: a cluster
// that comes back from a backup counts from there, and would give another spec a generation that was seen before.
func DefinitionDigest(metadata metav1.Object) uint64 {
	sum := mix(hashText(strconv.FormatInt(metadata.GetGeneration(), 10)))
	if metadata.GetDeletionTimestamp() != nil {
		sum += mix(hashText("deleted"))
	}
	for part, pairs := range map[string]map[string]string{"label": metadata.GetLabels(), "annotation": metadata.GetAnnotations()} {
		for key, value := range pairs {
			sum += hashTexts(part, key, value)
		}
	}
	entries := metadata.GetManagedFields()
	for at := range entries {
		entry := &entries[at]
		if entry.Subresource != "" {
			continue
		}
		var written int64
		if entry.Time != nil {
			written = entry.Time.Unix()
		}
		who := hashTexts("fields", entry.Manager, string(entry.Operation), strconv.FormatInt(written, 10))
		sum += mix(who ^ hashFields(entry.FieldsV1)*fnvPrime)
	}
	return mix(sum)
}

// hashTexts hashes a sequence of texts.
func hashTexts(texts ...string) uint64 {
	sum := fnvOffset
	for _, text := range texts {
		sum = mix(sum*fnvPrime ^ mix(hashText(text)))
	}
	return sum
}

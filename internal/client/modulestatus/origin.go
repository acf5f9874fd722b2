package modulestatus

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// AnnotationOrigin is on a ModuleTemplate that was taken from a catalog; its value is an Origin as JSON.
const AnnotationOrigin = v1beta2.OperatorPrefix + "catalog-origin"

// Origin is the catalog that a module came from, and how it was verified: enough to query it again in the same way.
type Origin struct {
	// Name of the source in the cluster of the module; empty if it is not stored there.
	Name string `json:"name,omitempty"`
	// URL of the catalog.
	URL string `json:"url"`
	// Digest of the catalog, and whether that digest was requested.
	Digest string `json:"digest,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
	// Key is the public key that had to verify a signature, in PEM.
	Key string `json:"key,omitempty"`
	// Version is the version in a signed catalog: an older catalog is not accepted in its place. 0 if it has none.
	Version int64 `json:"version,omitempty"`
}

// RequestedDigest returns the digest that was requested, "" if any was accepted.
func (o Origin) RequestedDigest() string {
	if o.Pinned {
		return o.Digest
	}
	return ""
}

// Note writes the origin to a template.
func (o Origin) Note(template *v1beta2.ModuleTemplate) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, AnnotationOrigin, string(text))
	return nil
}

// OriginOf returns the origin of a template in a cluster; nil if it came from no catalog. The annotation of a template in a file is
// ignored, since its author may write anything into it.
func OriginOf(template *v1beta2.ModuleTemplate) *Origin {
	text, there := template.Annotations[AnnotationOrigin]
	origin := &Origin{}
	if !there || template.Namespace == "" || json.Unmarshal([]byte(text), origin) != nil || origin.URL == "" {
		return nil
	}
	return origin
}

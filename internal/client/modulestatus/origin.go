package modulestatus

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// AnnotationOrigin is on a ModuleTemplate that was taken out of a catalog; its value is an Origin as JSON.
const AnnotationOrigin = v1beta2.OperatorPrefix + "catalog-origin"

// Origin is the catalog that a module came from, and who vouched for it then: enough to ask it again in the same way.
type Origin struct {
	// Name of the source, where it is kept in the cluster that the module is in; empty where it is not kept there.
	Name string `json:"name,omitempty"`
	// URL of the catalog.
	URL string `json:"url"`
	// Digest that the catalog had, and whether it was requested.
	Digest string `json:"digest,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
	// Key is the public key that a signature was asked of, in PEM.
	Key string `json:"key,omitempty"`
	// Version is what the catalog said of itself where it was signed: an older one is not taken instead. 0 where it said none.
	Version int64 `json:"version,omitempty"`
}

// RequestedDigest returns the digest that was requested, "" where any was taken.
func (o Origin) RequestedDigest() string {
	if o.Pinned {
		return o.Digest
	}
	return ""
}

// Note puts the origin on a template.
func (o Origin) Note(template *v1beta2.ModuleTemplate) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, AnnotationOrigin, string(text))
	return nil
}

// OriginOf returns the origin of a template that lies in a cluster; nil where it came from no catalog. One of a file says nothing about
// where it came from: its author may write anything into it.
func OriginOf(template *v1beta2.ModuleTemplate) *Origin {
	text, there := template.Annotations[AnnotationOrigin]
	origin := &Origin{}
	if !there || template.Namespace == "" || json.Unmarshal([]byte(text), origin) != nil || origin.URL == "" {
		return nil
	}
	return origin
}

package proxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// maxBody is more than an API server accepts.
const maxBody = 16 << 20

// protobuf is the prefix of a body in Kubernetes' binary encoding.
var protobuf = []byte("k8s\x00")

// readBody reads the body of a mutating call, records what it contains about the object, and restores the body of the request.
func readBody(c *Call, request *http.Request, keep int) error {
	if !c.Mutating || request.Body == nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(request.Body, maxBody+1))
	if err != nil || len(data) > maxBody {
		return fmt.Errorf("cannot read the body of %s: %w", c, err)
	}
	request.Body = io.NopCloser(bytes.NewReader(data))
	request.ContentLength = int64(len(data))
	sum := sha256.Sum256(data)
	c.Digest, c.ContentType = hex.EncodeToString(sum[:]), request.Header.Get("Content-Type")
	if keep > 0 {
		c.Body = bytes.Clone(data[:min(keep, len(data))])
	}
	if c.Verb == "delete" || c.Verb == "deletecollection" {
		readOptions(c, data)
	} else {
		readObject(c, data)
	}
	return nil
}

// readOptions reads the preconditions of a delete.
func readOptions(c *Call, data []byte) {
	options := metav1.DeleteOptions{}
	if raw, ok := bytes.CutPrefix(data, protobuf); ok {
		unknown := runtime.Unknown{}
		if unknown.Unmarshal(raw) == nil {
			_ = options.Unmarshal(unknown.Raw) // unreadable options have no preconditions; the server will refuse them
		}
	} else {
		_ = yaml.Unmarshal(data, &options)
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil {
			c.UID = string(*p.UID)
		}
		if p.ResourceVersion != nil {
			c.ResourceVersion = *p.ResourceVersion
		}
	}
	if len(options.DryRun) > 0 {
		c.Mutating = false
	}
}

// readObject reads the metadata of an object that is written. A JSON patch is a list and has none.
func readObject(c *Call, data []byte) {
	object, err := decode(data)
	if err != nil {
		return
	}
	c.UID, c.ResourceVersion = string(object.GetUID()), object.GetResourceVersion()
	if c.Verb == "create" && c.Name == "" {
		c.Name = object.GetName()
		if c.Name == "" {
			c.Name = object.GetGenerateName()
		}
	}
}

// decode reads an object's metadata: for any kind in JSON or YAML, for Kubernetes' own kinds in its binary encoding.
func decode(data []byte) (metav1.Object, error) {
	if bytes.HasPrefix(data, protobuf) {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
		if err != nil {
			return nil, err
		}
		return meta.Accessor(object)
	}
	object := &unstructured.Unstructured{}
	return object, yaml.Unmarshal(data, &object.Object)
}

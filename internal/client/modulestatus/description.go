package modulestatus

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// annotationKubernetesDescription is the well-known annotation for a text about an object.
	annotationKubernetesDescription = "kubernetes.io/description"
	// labelImageDescription is the annotation of OCI for a text about an artifact, which components carry as a label.
	labelImageDescription = "org.opencontainers.image.description"
	// mostDescription is the maximum length of a description in characters: lists show it whole.
	mostDescription = 500
)

// DescriptionOf returns what a template says of its module, as one line of plain text; empty if it says nothing. The first that is there:
//
//  1. the annotation operator.kyma-project.io/description
//  2. the annotation kubernetes.io/description
//  3. a label of one of these names, or of OCI's, of the component in its descriptor
func DescriptionOf(template *v1beta2.ModuleTemplate) string {
	for _, name := range []string{v1beta2.AnnotationDescription, annotationKubernetesDescription} {
		if text := plain(template.Annotations[name]); text != "" {
			return text
		}
	}
	var of labelled
	// Descriptors are long, and are parsed only where they can have such a label.
	if !bytes.Contains(template.Spec.Descriptor.Raw, []byte("description")) || json.Unmarshal(template.Spec.Descriptor.Raw, &of) != nil {
		return ""
	}
	for _, name := range []string{v1beta2.AnnotationDescription, labelImageDescription, annotationKubernetesDescription} {
		for _, label := range append(of.Component.Labels, of.Metadata.Labels...) {
			if text, is := label.Value.(string); is && label.Name == name && plain(text) != "" {
				return plain(text)
			}
		}
	}
	return ""
}

// labelled are the labels of a component descriptor of either schema.
type labelled struct {
	Component withLabels `json:"component"`
	Metadata  withLabels `json:"metadata"`
}

type withLabels struct {
	Labels []struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	} `json:"labels"`
}

// plain returns a text of others as one line of bounded length, without characters that control a terminal or the direction of text.
func plain(text string) string {
	if len(text) > 8*mostDescription {
		text = text[:8*mostDescription]
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mostDescription {
		return strings.TrimSpace(string(runes[:mostDescription-1])) + "…"
	}
	return text
}

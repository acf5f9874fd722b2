package editcmd

import (
	"bytes"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// kymaDiff returns what an edit changes in a Kyma: its labels and its spec.
func kymaDiff(before, after *v1beta2.Kyma) string {
	name := "kyma/" + after.Namespace + "/" + after.Name
	return unified(name, name, shownKyma(before), shownKyma(after))
}

// shownKyma returns the part of a Kyma that users write.
func shownKyma(kyma *v1beta2.Kyma) any {
	return struct {
		Labels map[string]string `json:"labels,omitempty"`
		Spec   v1beta2.KymaSpec  `json:"spec"`
	}{kyma.Labels, kyma.Spec}
}

// unified returns the difference of two values as YAML, in the format of diff -u; empty if there is none.
func unified(fromName, toName string, from, to any) string {
	left, errLeft := yaml.Marshal(from)
	right, errRight := yaml.Marshal(to)
	if errLeft != nil || errRight != nil || bytes.Equal(left, right) {
		return ""
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(left), B: lines(right), FromFile: fromName, ToFile: toName, Context: 3,
	})
	if err != nil {
		return ""
	}
	return text
}

// lines returns the lines of a text, each with its end. A missing value has no lines.
func lines(text []byte) []string {
	if bytes.Equal(text, []byte("null\n")) {
		return nil
	}
	return difflib.SplitLines(string(bytes.TrimSuffix(text, []byte("\n"))))
}

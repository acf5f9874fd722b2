package operations

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Kubeconfig is a kubeconfig that a request brings. It is written to the access Secret of a Kyma and to no other place: as JSON and as text
// it is hidden, so that no record, answer or log has it.
//
//nolint:recvcheck // a copy must be as hidden as what a pointer leads to, and only a pointer can be read into
type Kubeconfig struct{ text string }

// hiddenText takes the place of a kubeconfig wherever one would be shown.
const hiddenText = "(hidden)"

// NewKubeconfig returns a kubeconfig.
func NewKubeconfig(text string) *Kubeconfig { return &Kubeconfig{text} }

// MarshalJSON implements json.Marshaler.
func (Kubeconfig) MarshalJSON() ([]byte, error) { return json.Marshal(hiddenText) }

// UnmarshalJSON implements json.Unmarshaler. Its error repeats nothing of the input.
func (k *Kubeconfig) UnmarshalJSON(from []byte) error {
	if err := json.Unmarshal(from, &k.text); err != nil {
		return errors.New("field kubeconfig is no text")
	}
	if k.text == hiddenText {
		k.text = ""
	}
	return nil
}

// Format implements fmt.Formatter, for every verb.
func (Kubeconfig) Format(to fmt.State, _ rune) { _, _ = fmt.Fprint(to, hiddenText) }

// withoutText returns the kubeconfig without its text, nil for none.
func (k *Kubeconfig) withoutText() *Kubeconfig {
	if k == nil {
		return nil
	}
	return &Kubeconfig{}
}

// isKept reports whether the text is known: it is not for an operation that is resumed.
func (k *Kubeconfig) isKept() bool { return k != nil && k.text != "" }

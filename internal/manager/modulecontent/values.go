package modulecontent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

const (
	// minSecret is the length from which on a text of a Secret is taken out of errors: shorter ones are parts of ordinary words.
	minSecret = 4
	// minLine is the same for a line of a longer text: lines are words of a file more often than secrets.
	minLine = 12
)

// ErrValuesChanged reports that an object of the hub holds other values than those that a Manifest asks for: they are installed once the
// Kyma has taken them up, and those from before are gone.
var ErrValuesChanged = errors.New("it holds other values now, which the Kyma has not taken up yet")

// HubValues reads values in Secrets and ConfigMaps of the hub. It makes no call.
type HubValues interface {
	// Text returns the values that a reference names, or the reason why there are none.
	Text(ctx context.Context, namespace string, reference v1beta2.ValuesReference) (text []byte, problem string)
}

// hasValues reports whether a spec has values beside those of the config layer.
func hasValues(spec *v1beta2.ManifestSpec) bool { return spec.Values != nil || spec.KymaValues != nil }

// specValues returns the values that go before those of the config layer; nil for none. In order, a later one goes before an earlier one:
//
//  1. Values in objects of the hub that the Kyma's entry names.
//  2. Values of the entry itself.
//  3. Values of the Manifest.
func (r *reading) specValues(ctx context.Context) (map[string]any, error) {
	spec := &r.manifest.Spec
	if !hasValues(spec) {
		return nil, nil
	}
	all := map[string]any{}
	if entry := spec.KymaValues; entry != nil {
		for i := range entry.From {
			values, err := r.referredValues(ctx, &entry.From[i])
			if err != nil {
				return nil, err
			}
			all = helm.MergeValues(all, values)
		}
		values, err := helm.Values([]byte(entry.Inline))
		if err != nil {
			return nil, content.Errorf(content.ReasonOf(err), "values of the module's entry in the Kyma: %w", err)
		}
		all = helm.MergeValues(all, values)
	}
	if spec.Values != nil {
		values, err := helm.Values(spec.Values.Raw)
		if err != nil {
			return nil, err
		}
		all = helm.MergeValues(all, values)
	}
	return all, nil
}

// referredValues returns the values in an object of the hub. Values that the Kyma has not taken up yet are not used: they may need consent.
func (r *reading) referredValues(ctx context.Context, from *v1beta2.HashedValues) (map[string]any, error) {
	if r.HubValues == nil {
		return nil, &content.Error{Reason: v1beta2.ReasonValuesNotFound, Err: errors.New("values in objects of the hub are not read here")}
	}
	text, problem := r.HubValues.Text(ctx, r.manifest.Namespace, from.ValuesReference)
	switch {
	case problem != "":
		return nil, &content.Error{Reason: v1beta2.ReasonValuesNotFound, Err: errors.New(problem)}
	case module.HashValues(text) != from.Hash:
		return nil, content.Errorf(v1beta2.ReasonValuesNotFound, "%s %s: %w", from.Kind, from.Name, ErrValuesChanged)
	}
	values, err := helm.Values(text)
	if err != nil { // which may show a part of it
		return nil, valuesInvalid("%s %s: key %s holds no values: write one object in YAML there", from.Kind, from.Name, from.DataKey())
	}
	if from.Kind == v1beta2.ValuesSecret {
		r.secrets = append(r.secrets, values)
	}
	return values, nil
}

// withoutSecrets returns an error without what came from Secrets: the templates of a chart decide what an error says.
func (r *reading) withoutSecrets(err error) error {
	problem, known := errors.AsType[*content.Error](err)
	if !known || len(r.secrets) == 0 {
		return err
	}
	text := problem.Error()
	var secrets []string
	for _, secret := range textsIn(r.secrets, nil) {
		secrets = append(secrets, formsOf(secret)...)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "...")
	}
	if text == problem.Error() {
		return err
	}
	return &content.Error{Reason: problem.Reason, Err: errors.New(text), RetryAfter: problem.RetryAfter}
}

// formsOf returns a text in the forms in which an error may repeat it: as it is, quoted, as part of JSON, as base64, and line by line.
func formsOf(secret string) []string {
	quoted := strconv.Quote(secret)
	forms := []string{secret, quoted[1 : len(quoted)-1], base64.StdEncoding.EncodeToString([]byte(secret))}
	if encoded, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(encoded[1:len(encoded)-1]))
	}
	if strings.Contains(secret, "\n") {
		for line := range strings.SplitSeq(secret, "\n") {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				forms = append(forms, line)
			}
		}
	}
	return forms
}

// textsIn adds all texts and numbers in a value that are long enough to be recognised. A password of digits that is not quoted is a number.
func textsIn(value any, to []string) []string {
	switch value := value.(type) {
	case string:
		if len(value) >= minSecret {
			to = append(to, value)
		}
	case float64:
		for _, text := range []string{fmt.Sprint(value), strconv.FormatFloat(value, 'f', -1, 64)} {
			to = textsIn(text, to)
		}
	case map[string]any:
		for _, inner := range value {
			to = textsIn(inner, to)
		}
	case []any:
		for _, inner := range value {
			to = textsIn(inner, to)
		}
	}
	return to
}

package setup

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestFindRollouts(t *testing.T) {
	resource := schema.GroupResource{Group: "operator.kyma-project.io", Resource: "modulerollouts"}
	for _, test := range []struct {
		name   string
		answer error
		found  bool
		says   string
		fails  bool
	}{
		{name: "a hub that has them", found: true},
		{
			name: "a hub without the definition", answer: &apimeta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ModuleRollout"}},
			says: "apply config/crd/bases",
		},
		{name: "a hub that does not serve the version", answer: apierrors.NewNotFound(resource, ""), says: "apply config/crd/bases"},
		{
			name: "a manager without the rights", answer: apierrors.NewForbidden(resource, "", errors.New("no rule")),
			says: "apply config/rbac/role.yaml",
		},
		{name: "a hub that does not answer is nothing that was looked at", answer: errors.New("connection refused"), fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lines []string
			log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
			live := interceptor.NewClient(clientfake.NewClientBuilder().WithScheme(Scheme()).Build(), interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
					return test.answer
				},
			})
			found, err := findRollouts(t.Context(), live, "kcp-system", log)
			if found != test.found || (err != nil) != test.fails {
				t.Errorf("found %v, %v", found, err)
			}
			if said := strings.Join(lines, "\n"); !strings.Contains(said, test.says) || (test.says == "") != (said == "") {
				t.Errorf("it says %q", said)
			}
		})
	}
}

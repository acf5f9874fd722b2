package server

import (
	"context"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// settings describes the dashboard and the user's permissions.
type settings struct {
	Versions versions       `json:"versions"`
	Access   []accessLine   `json:"access"`
	Health   []healthStatus `json:"health"`
}

type versions struct {
	Dashboard  string              `json:"dashboard"`
	Kubernetes string              `json:"kubernetes"`
	Manager    string              `json:"manager"`
	CRDs       map[string][]string `json:"crds"`
}

type accessLine struct {
	What    string `json:"what"`
	Verb    string `json:"verb"`
	Allowed bool   `json:"allowed"`
}

type healthStatus struct {
	What    string             `json:"what"`
	State   modulestatus.State `json:"state"`
	Message string             `json:"message,omitempty"`
}

// checked lists the permissions that users see, each with its description.
var checked = []struct{ what, verb, group, resource, namespace string }{
	{"Kymas of all namespaces", "list", ownGroup, "kymas", ""},
	{"Manifests of all namespaces", "list", ownGroup, "manifests", ""},
	{"module templates", "list", ownGroup, "moduletemplates", ""},
	{"releases", "list", ownGroup, "modulereleasemetas", ""},
	{"rollouts", "list", ownGroup, "modulerollouts", ""},
	{"add, upgrade and remove modules (Kymas of " + v1beta2.DefaultNamespace + ")", "patch", ownGroup, "kymas", v1beta2.DefaultNamespace},
	{"delete Kymas of " + v1beta2.DefaultNamespace, "delete", ownGroup, "kymas", v1beta2.DefaultNamespace},
	{"promote releases of " + v1beta2.DefaultNamespace, "patch", ownGroup, "modulereleasemetas", v1beta2.DefaultNamespace},
	{"decide about rollouts of " + v1beta2.DefaultNamespace, "patch", ownGroup, "modulerollouts", v1beta2.DefaultNamespace},
	{"access Secrets (what lies in runtimes)", "list", "", "secrets", v1beta2.DefaultNamespace},
	{"records of direct installations", "list", "", "secrets", modulestatus.DirectNamespace},
	{"install without the lifecycle manager", "create", "", "secrets", modulestatus.DirectNamespace},
	{"events of " + v1beta2.DefaultNamespace, "list", "", "events", v1beta2.DefaultNamespace},
}

func (s *Server) settings(ctx context.Context, u *User, r *http.Request) (any, error) {
	if err := known(r.URL.Query()); err != nil {
		return nil, err
	}
	is := settings{Access: make([]accessLine, len(checked))}
	each(len(checked), func(i int) {
		c := &checked[i]
		is.Access[i] = accessLine{c.what, c.verb, u.may(ctx, c.verb, c.group, c.resource, c.namespace, "")}
	})
	manager := s.managerState(ctx, u)
	is.Versions = versions{Dashboard: s.options.Version, Manager: manager.version, CRDs: definitions(ctx, u)}
	cluster := healthStatus{What: "cluster", State: modulestatus.Ready}
	version, err := kubernetesVersion(ctx, u)
	if err != nil {
		cluster.State, cluster.Message = modulestatus.Error, problemOf(err).Message
	}
	is.Versions.Kubernetes = version
	is.Health = []healthStatus{cluster, manager.status()}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		is.Health = append(is.Health, healthStatus{"watches", modulestatus.Error, problemOf(err).Message})
		return is, nil
	}
	watched := healthStatus{What: "watches", State: modulestatus.Ready}
	for _, one := range now.unread {
		watched.State, watched.Message = modulestatus.Warning, strings.TrimSpace(watched.Message+" "+one.Message+".")
	}
	is.Health = append(is.Health, watched)
	return is, nil
}

// definitions returns the versions of our kinds that the cluster serves.
func definitions(ctx context.Context, u *User) map[string][]string {
	beyond(ctx)
	found, err := recalled(ctx, u, "definitions", func(ctx context.Context) (map[string][]string, error) {
		all := map[string][]string{}
		for kind, plural := range map[string]string{
			"Kyma": "kymas", "Manifest": "manifests", "ModuleTemplate": "moduletemplates", "ModuleReleaseMeta": "modulereleasemetas",
			kindRollout: "modulerollouts",
		} {
			all[kind] = []string{}
			var d apiextensionsv1.CustomResourceDefinition
			if err := u.Client.Get(ctx, client.ObjectKey{Name: plural + "." + ownGroup}, &d); err != nil {
				continue // it is not there, or may not be read: no version is shown
			}
			for i := range d.Spec.Versions {
				if d.Spec.Versions[i].Served {
					all[kind] = append(all[kind], d.Spec.Versions[i].Name)
				}
			}
		}
		return all, nil
	})
	if err != nil {
		return map[string][]string{}
	}
	return found
}

func kubernetesVersion(ctx context.Context, u *User) (string, error) {
	return recalled(ctx, u, "version", func(context.Context) (string, error) {
		c, err := discovery.NewDiscoveryClientForConfig(u.Config)
		if err != nil {
			return "", err
		}
		version, err := c.ServerVersion()
		if err != nil {
			return "", err
		}
		return version.GitVersion, nil
	})
}

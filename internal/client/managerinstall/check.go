package managerinstall

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Verdict is the result of one check.
type Verdict string

// The verdicts, from the best to the worst.
const (
	Passed  Verdict = "OK"
	Warning Verdict = "Warning"
	Failed  Verdict = "Error"
)

// oldestMinor is the first Kubernetes 1.x release with the features that our definitions and writes require: CEL rules and server-side
// apply.
const oldestMinor = 29

// Result is one line of a check.
type Result struct {
	// Name is the subject of the check.
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Message is the finding, and the remedy if there is a problem.
	Message string `json:"message"`
	// Count is the number of places, if they are counted, and Places are the first of them.
	Count  int      `json:"count,omitempty"`
	Places []string `json:"places,omitempty"`
}

// Worst returns the worst verdict.
func Worst(results []Result) Verdict {
	worst := Passed
	for _, result := range results {
		if slices.Index(verdicts, result.Verdict) > slices.Index(verdicts, worst) {
			worst = result.Verdict
		}
	}
	return worst
}

var verdicts = []Verdict{Passed, Warning, Failed}

// Inspection describes the subject of a check.
type Inspection struct {
	Config *rest.Config
	Client client.Client
	// Objects are those that are or would be installed.
	Objects []*unstructured.Unstructured
	// Pre is for a check before an installation: missing objects are fine, and the rights to install are checked.
	Pre bool
	// Brings is the command that installs missing objects; empty means kyma install.
	Brings string
}

func (i Inspection) brings() string { return cmp.Or(i.Brings, "kyma install") }

// Inspect examines a cluster, and changes nothing.
//
//  1. does its API server answer, in a version that is new enough?
//  2. with Pre: is everything allowed that an installation does?
//  3. are the definitions those of this program, and established?
//  4. does a manager run, inside or outside of the cluster, and which one?
//  5. without Pre: does a manager hold the lease?
//  6. is the webhook set up in definitions that are converted by one?
func Inspect(ctx context.Context, i Inspection) []Result {
	server := i.server()
	if server.Verdict == Failed {
		return []Result{server}
	}
	results := []Result{server}
	if i.Pre {
		results = append(results, i.rights(ctx))
	}
	definitions, found := i.definitions(ctx)
	results = append(results, definitions, i.manager(ctx))
	if !i.Pre {
		results = append(results, i.leader(ctx))
	}
	return append(results, conversion(found)...)
}

func (i Inspection) server() Result {
	r := Result{Name: "API server"}
	clients, err := discovery.NewDiscoveryClientForConfig(i.Config)
	if err != nil {
		return r.bad(Failed, "%v", err)
	}
	version, err := clients.ServerVersion()
	if err != nil {
		return r.bad(Failed, "does not answer: %v", err)
	}
	minor, err := strconv.Atoi(regexp.MustCompile(`^\d*`).FindString(version.Minor))
	if version.Major == "1" && err == nil && minor < oldestMinor {
		return r.bad(Failed, "is %s: the lifecycle manager needs Kubernetes 1.%d or newer", version.GitVersion, oldestMinor)
	}
	return r.bad(Passed, "is %s", version.GitVersion)
}

func (r Result) bad(verdict Verdict, format string, args ...any) Result {
	r.Verdict, r.Message = verdict, fmt.Sprintf(format, args...)
	return r
}

// rights queries the API server whether the user may write everything that an installation writes.
func (i Inspection) rights(ctx context.Context) Result {
	r := Result{Name: "rights"}
	var denied []string
	asked := map[authorizationv1.ResourceAttributes]bool{}
	for _, object := range i.Objects {
		gvk := object.GroupVersionKind()
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		for _, verb := range []string{"get", "create", "patch", "delete"} {
			attributes := authorizationv1.ResourceAttributes{
				Verb: verb, Group: gvk.Group, Version: gvk.Version, Resource: plural.Resource, Namespace: object.GetNamespace(),
			}
			if asked[attributes] {
				continue
			}
			asked[attributes] = true
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes}}
			if err := i.Client.Create(ctx, review); err != nil {
				return r.bad(Failed, "cannot be checked: %v", err)
			}
			if !review.Status.Allowed {
				denied = append(denied, verb+" "+plural.GroupResource().String())
			}
		}
	}
	if len(denied) > 0 {
		slices.Sort(denied)
		return r.bad(Failed, "you may not %s: ask an administrator of the cluster", strings.Join(slices.Compact(denied), ", "))
	}
	return r.bad(Passed, "you have all %d permissions that an installation requires", len(asked))
}

// definitions compares the cluster's definitions with ours.
func (i Inspection) definitions(ctx context.Context) (Result, []*apiextensionsv1.CustomResourceDefinition) {
	r := Result{Name: "definitions"}
	var found []*apiextensionsv1.CustomResourceDefinition
	var missing, wrong []string
	for _, object := range i.Objects {
		if object.GetKind() != definitionKind {
			continue
		}
		live := &apiextensionsv1.CustomResourceDefinition{}
		err := i.Client.Get(ctx, client.ObjectKeyFromObject(object), live)
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, object.GetName())
			continue
		case err != nil:
			return r.bad(Failed, "cannot be read: %v", err), nil
		}
		found = append(found, live)
		wrong = append(wrong, problemsOf(live)...)
	}
	switch {
	case len(wrong) > 0:
		return r.bad(Failed, "%s", strings.Join(wrong, "; ")), found
	case len(found) == 0 && i.Pre:
		return r.bad(Passed, "none is there yet"), found
	case len(found) == 0:
		return r.bad(Failed, "none is there: the lifecycle manager is not installed; %s brings it", i.brings()), found
	case len(missing) > 0 && i.Pre:
		return r.bad(Warning, "some are there, and would be upgraded; missing: %s", strings.Join(missing, ", ")), found
	case len(missing) > 0:
		return r.bad(Failed, "missing: %s; %s installs them", strings.Join(missing, ", "), i.brings()), found
	}
	return r.bad(Passed, "all %d are there, and established", len(found)), found
}

// problemsOf returns the problems of one of our definitions.
func problemsOf(live *apiextensionsv1.CustomResourceDefinition) []string {
	var wrong []string
	established := slices.ContainsFunc(live.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
	if !established {
		wrong = append(wrong, live.Name+" is not established")
	}
	stored := v1beta2.GroupVersion.Version
	for _, version := range live.Spec.Versions {
		if version.Storage && version.Name != stored {
			wrong = append(wrong, fmt.Sprintf("%s stores %s and not %s", live.Name, version.Name, stored))
		}
	}
	if !live.DeletionTimestamp.IsZero() {
		wrong = append(wrong, live.Name+" is being deleted")
	}
	return wrong
}

// manager checks the Deployment.
func (i Inspection) manager(ctx context.Context) Result {
	r := Result{Name: "manager"}
	live := &appsv1.Deployment{}
	err := i.Client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: deployment}, live)
	switch {
	case apierrors.IsNotFound(err):
		return i.elsewhere(ctx, r)
	case err != nil:
		return r.bad(Failed, "cannot be read: %v", err)
	}
	runs := "nothing"
	if containers := live.Spec.Template.Spec.Containers; len(containers) > 0 {
		runs = containers[0].Image
	}
	status, wants := live.Status, int32(1)
	if live.Spec.Replicas != nil {
		wants = *live.Spec.Replicas
	}
	switch {
	case i.Pre:
		return r.bad(Warning, "%s is there, and would be replaced", runs)
	case status.ObservedGeneration < live.Generation || status.UpdatedReplicas < wants:
		return r.bad(Warning, "%s is being rolled out, %d of %d replicas", runs, status.UpdatedReplicas, wants)
	case status.AvailableReplicas < max(wants, 1):
		return r.bad(Failed, "%s: %d of %d replicas are available; kubectl -n %s describe deployment %s says why",
			runs, status.AvailableReplicas, wants, Namespace, deployment)
	}
	return r.bad(Passed, "%s runs in %d replicas", runs, status.AvailableReplicas)
}

// elsewhere looks for a manager without a Deployment: a process outside of the cluster, as in a sandbox, which holds a lease, too.
func (i Inspection) elsewhere(ctx context.Context, r Result) Result {
	lease, current, err := i.held(ctx)
	works := err == nil && current
	switch {
	case works && i.Pre:
		return r.bad(Warning, "%s runs outside of this cluster and holds lease %s: stop it before you install a second one",
			*lease.Spec.HolderIdentity, lease.Name)
	case works:
		return r.bad(Passed, "%s runs outside of this cluster", *lease.Spec.HolderIdentity)
	case i.Pre:
		return r.bad(Passed, "none runs yet")
	}
	return r.bad(Failed, "there is no Deployment %s/%s, and no manager outside of this cluster holds a lease: %s brings one",
		Namespace, deployment, i.brings())
}

// leader checks the lease of the active manager.
func (i Inspection) leader(ctx context.Context) Result {
	r := Result{Name: "leader"}
	lease, current, err := i.held(ctx)
	switch {
	case err != nil:
		return r.bad(Warning, "the lease cannot be read: %v", err)
	case lease == nil:
		return r.bad(Warning, "no manager holds a lease in %s: none works yet", Namespace)
	case !current:
		return r.bad(Warning, "%s holds lease %s and has not renewed it since %s: the manager does not work",
			*lease.Spec.HolderIdentity, lease.Name, lease.Spec.RenewTime.UTC().Format(time.RFC3339))
	}
	return r.bad(Passed, "%s holds lease %s", *lease.Spec.HolderIdentity, lease.Name)
}

const (
	// defaultTerm is the term of a lease that names none, as in client-go.
	defaultTerm = 15 * time.Second
	// clockSkew is how far this machine's clock may differ from the manager's.
	clockSkew = time.Minute
)

// held returns a lease that a manager holds, nil without one; current means that it was renewed in time.
func (i Inspection) held(ctx context.Context) (lease *coordinationv1.Lease, current bool, err error) {
	var leases coordinationv1.LeaseList
	if err := i.Client.List(ctx, &leases, client.InNamespace(Namespace)); err != nil {
		return nil, false, err
	}
	for at := range leases.Items {
		spec := &leases.Items[at].Spec
		if spec.HolderIdentity == nil || *spec.HolderIdentity == "" {
			continue
		}
		term := defaultTerm
		if spec.LeaseDurationSeconds != nil {
			term = time.Duration(*spec.LeaseDurationSeconds) * time.Second
		}
		lease = &leases.Items[at]
		if spec.RenewTime == nil || time.Since(spec.RenewTime.Time) < term+clockSkew {
			return lease, true, nil
		}
	}
	return lease, false, nil
}

// conversion checks definitions that a webhook converts: without its CA, every request for another version fails.
func conversion(definitions []*apiextensionsv1.CustomResourceDefinition) []Result {
	var without, with []string
	for _, live := range definitions {
		c := live.Spec.Conversion
		if c == nil || c.Strategy != apiextensionsv1.WebhookConverter {
			continue
		}
		if c.Webhook == nil || c.Webhook.ClientConfig == nil || len(c.Webhook.ClientConfig.CABundle) == 0 {
			without = append(without, live.Name)
		} else {
			with = append(with, live.Name)
		}
	}
	r := Result{Name: "webhook"}
	switch {
	case len(without) > 0:
		return []Result{r.bad(Failed, "%s cannot be converted: the manager has not filled in its certificate", strings.Join(without, ", "))}
	case len(with) > 0:
		return []Result{r.bad(Passed, "converts %s", strings.Join(with, ", "))}
	}
	return nil
}

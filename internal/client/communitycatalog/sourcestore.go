package communitycatalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// LabelSource is on every ConfigMap with a source; its value is the name of the source.
const LabelSource = v1beta2.OperatorPrefix + "catalog-source"

const (
	// sourcePrefix is the prefix of the names of these ConfigMaps.
	sourcePrefix = "catalog-source-"
	// maxTrouble is the maximum length of a stored read error.
	maxTrouble = 1024
)

// The keys of such a ConfigMap.
const (
	keyURL     = "url"
	keyDigest  = "digest"
	keyKey     = "key"
	keyChecked = "checked"
	keyRead    = "read"
	keyModules = "modules"
	keyError   = "error"
	keyVersion = "version"
	keyFresh   = "requireFreshness"
)

// SourceStore stores sources as ConfigMaps, with the permissions of its client.
type SourceStore struct {
	Client client.Client
	// Namespace of the ConfigMaps, see Home.
	Namespace string
	// DryRun lets the API server validate a change without storing it.
	DryRun bool
}

// Home returns the namespace of a cluster's sources: that of the hub if it exists, or else that of modules.
func Home(ctx context.Context, cluster client.Reader) (string, error) {
	var forbidden error
	for _, name := range []string{v1beta2.DefaultNamespace, v1beta2.RuntimeNamespace} {
		var namespace corev1.Namespace
		switch err := cluster.Get(ctx, client.ObjectKey{Name: name}, &namespace); {
		case err == nil:
			return name, nil
		case apierrors.IsForbidden(err):
			// A user who may not read namespaces may still use this one, which a list request shows.
			var sources corev1.ConfigMapList
			err := cluster.List(ctx, &sources, client.InNamespace(name), client.HasLabels{LabelSource}, client.Limit(1))
			if err == nil {
				return name, nil
			}
			forbidden = cmp.Or(forbidden, err)
		case !apierrors.IsNotFound(err):
			return "", fmt.Errorf("look for namespace %s: %w", name, err)
		}
	}
	if forbidden != nil {
		return "", fmt.Errorf("list sources: %w", forbidden)
	}
	return "", fmt.Errorf("there is neither namespace %s nor %s to keep sources in: choose one by --namespace",
		v1beta2.DefaultNamespace, v1beta2.RuntimeNamespace)
}

// List returns all sources, sorted by name. One with an invalid ConfigMap is listed with an Error.
func (s SourceStore) List(ctx context.Context) ([]Source, error) {
	var stored corev1.ConfigMapList
	if err := s.Client.List(ctx, &stored, client.InNamespace(s.Namespace), client.HasLabels{LabelSource}); err != nil {
		return nil, fmt.Errorf("list sources in namespace %s: %w", s.Namespace, err)
	}
	all := []Source{}
	for i := range stored.Items {
		all = append(all, sourceOf(&stored.Items[i]))
	}
	slices.SortFunc(all, func(a, b Source) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Get returns one source. For one that does not exist, the error is NotFound, as from the API server.
func (s SourceStore) Get(ctx context.Context, name string) (Source, error) {
	there, err := s.get(ctx, name)
	if err != nil {
		return Source{}, err
	}
	return sourceOf(there), nil
}

// Add stores a new source. The error is AlreadyExists if there is another one of that name, unless replace is set.
func (s SourceStore) Add(ctx context.Context, source Source, replace bool) error {
	source, err := source.Complete()
	if err != nil {
		return err
	}
	made := mapOf(source, s.Namespace)
	create := []client.CreateOption{client.FieldOwner(fieldManager)}
	update := []client.UpdateOption{client.FieldOwner(fieldManager)}
	if s.DryRun {
		create, update = append(create, client.DryRunAll), append(update, client.DryRunAll)
	}
	if err := s.Client.Create(ctx, made, create...); !apierrors.IsAlreadyExists(err) {
		return err
	}
	there, err := s.get(ctx, source.Name)
	if err != nil {
		return err
	}
	before := sourceOf(there)
	switch {
	case before.Same(source):
		return nil
	case !replace:
		return apierrors.NewAlreadyExists(sourceResource, source.Name)
	case before.asks(source):
		source.Version = max(source.Version, before.Version) // the same catalog in another way: keep the version that was seen of it
	}
	there.Data, there.Labels[LabelSource] = mapOf(source, s.Namespace).Data, source.Name
	return s.Client.Update(ctx, there, update...)
}

// fieldManager is the field manager of sources.
const fieldManager = "kyma-catalog"

// Remove removes a source. Modules that were taken from it stay.
func (s SourceStore) Remove(ctx context.Context, name string) error {
	there, err := s.get(ctx, name)
	if err != nil {
		return err
	}
	options := []client.DeleteOption{client.Preconditions{UID: &there.UID}}
	if s.DryRun {
		options = append(options, client.DryRunAll)
	}
	return s.Client.Delete(ctx, there, options...)
}

// Note stores the outcome of reading a source: the number of modules, or the error. The outcome of the last successful read is kept.
func (s SourceStore) Note(ctx context.Context, name string, modules int, trouble error, now time.Time) error {
	there, err := s.get(ctx, name)
	if err != nil {
		return err
	}
	from := client.MergeFromWithOptions(there.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if there.Data == nil {
		there.Data = map[string]string{}
	}
	there.Data[keyChecked] = now.UTC().Format(time.RFC3339)
	if trouble == nil {
		there.Data[keyRead], there.Data[keyModules] = there.Data[keyChecked], strconv.Itoa(modules)
		delete(there.Data, keyError)
	} else {
		there.Data[keyError] = troubleText(trouble)
	}
	return s.Client.Patch(ctx, there, from, client.FieldOwner(fieldManager))
}

var sourceResource = schema.GroupResource{Group: v1beta2.GroupVersion.Group, Resource: "catalog source"}

// get returns the ConfigMap of a source. One without our label is no source.
func (s SourceStore) get(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	var there corev1.ConfigMap
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: sourcePrefix + name}, &there)
	if apierrors.IsNotFound(err) || err == nil && there.Labels[LabelSource] == "" {
		return nil, apierrors.NewNotFound(sourceResource, name)
	}
	return &there, err
}

// timeOf parses a time; nil if there is none.
func timeOf(text string) *time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return &at
}

func mapOf(source Source, namespace string) *corev1.ConfigMap {
	made := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: sourcePrefix + source.Name, Labels: map[string]string{LabelSource: source.Name},
		},
		Data: map[string]string{keyURL: source.URL},
	}
	if source.Digest != "" {
		made.Data[keyDigest] = source.Digest
	}
	if source.Key != "" {
		made.Data[keyKey] = source.Key
	}
	if source.RequireFreshness {
		made.Data[keyFresh] = strconv.FormatBool(true)
	}
	if source.Version > 0 {
		made.Data[keyVersion] = strconv.FormatInt(source.Version, 10)
	}
	return made
}

// sourceOf parses a ConfigMap, which is untrusted: an invalid one becomes an Error, and is not fetched.
func sourceOf(there *corev1.ConfigMap) Source {
	source := Source{
		Name: there.Labels[LabelSource], URL: there.Data[keyURL], Digest: there.Data[keyDigest], Key: there.Data[keyKey],
		Error: there.Data[keyError],
	}
	source.Checked, source.Read = timeOf(there.Data[keyChecked]), timeOf(there.Data[keyRead])
	source.Modules, _ = strconv.Atoi(there.Data[keyModules]) // 0 until the source was read
	source.RequireFreshness = there.Data[keyFresh] != "" && there.Data[keyFresh] != strconv.FormatBool(false)
	version, known := parseVersion(there.Data[keyVersion])
	source.Version = version
	judged, err := source.Complete()
	if err == nil && !known {
		err = invalid("%q is no version that was seen of the catalog: remove the source and add it again", short(there.Data[keyVersion]))
	}
	switch {
	case err != nil:
		source.URL, source.Error = "", err.Error() // a refused address may contain a login
	case there.Name != sourcePrefix+source.Name:
		source.Error = fmt.Sprintf("ConfigMap %s/%s says that it is source %s, which belongs into another one", there.Namespace, there.Name,
			short(source.Name))
	default:
		source = judged
	}
	return source
}

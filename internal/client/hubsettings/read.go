package hubsettings

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/internal/takeover"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The manager's defaults that count here.
const (
	windowsFile = "/etc/maintenance-policy/policy.json"
	windowsSize = 20 * time.Minute
)

// Settings of a manager.
type Settings struct {
	// Place is where it reads components; its Registry is empty where that is not known.
	Place versioncontent.Place
	// Known is true where the manager's flags were read. Otherwise the fields below are its defaults.
	Known bool
	// Restricted are the modules of flag --restricted-default-modules.
	Restricted []string
	// Windows is the maintenance policy, nil for none; WindowsKnown is false where it may exist and could not be read.
	Windows      *module.WindowPolicy
	WindowsKnown bool
	// Approvals says which versions need consent, nil for none that could be read.
	Approvals *module.ApprovalPolicy
	// Unread says in sentences what could not be read, and why.
	Unread []string
}

// Files are policy files of the user, which take precedence over the manager's; empty for none. ReadFile reads one.
type Files struct {
	Windows, Approvals string
	ReadFile           func(ctx context.Context, name string) ([]byte, error)
}

// Read reads the settings of a hub's manager. An error means that a file of the user cannot be used, or that the context ended; everything
// else that fails is part of the result.
func Read(ctx context.Context, from client.Reader, files Files) (Settings, error) {
	r := &reading{from: from}
	deployment := &appsv1.Deployment{}
	err := from.Get(ctx, client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: takeover.ManagerName}, deployment)
	switch {
	case ctx.Err() != nil:
		return r.Settings, ctx.Err()
	case err == nil:
		r.Known, r.flags = true, takeover.SettingsOf(deployment).Flags
	case !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
		r.missf("the flags of the lifecycle manager cannot be read: %s", reason(err))
	default:
		r.missf("the lifecycle manager runs outside of this cluster, so that its flags cannot be read")
	}
	r.take()
	if err := r.windows(ctx, deployment, files); err != nil {
		return r.Settings, err
	}
	return r.Settings, r.approvals(ctx, deployment, files)
}

// reading is one call of Read.
type reading struct {
	Settings
	from  client.Reader
	flags map[string]string
}

func (r *reading) missf(format string, args ...any) {
	r.Unread = append(r.Unread, fmt.Sprintf(format, args...))
}

// take takes over what stands in the flags.
func (r *reading) take() {
	if host := r.flags["oci-registry-host"]; host != "" {
		address := strings.TrimSuffix(host, "/")
		if below := strings.Trim(r.flags["modules-repository-subpath"], "/"); below != "" {
			address += "/" + below
		}
		r.Place = versioncontent.Place{
			Registry: address, Mapping: descriptor.Mapping(r.flags["component-name-mapping"]), From: "the lifecycle manager",
		}
	}
	for name := range strings.SplitSeq(r.flags["restricted-default-modules"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			r.Restricted = append(r.Restricted, name)
		}
	}
}

// windows reads the maintenance policy: the user's, else the manager's.
func (r *reading) windows(ctx context.Context, deployment *appsv1.Deployment, files Files) error {
	least := windowsSize
	if size, err := time.ParseDuration(r.flags["min-maintenance-window-size"]); err == nil {
		least = size
	}
	if files.Windows != "" {
		text, err := files.ReadFile(ctx, files.Windows)
		if err == nil {
			r.Windows, err = policy.ParseWindows(text, least)
		}
		r.WindowsKnown = err == nil
		if err != nil {
			return fmt.Errorf("maintenance policy %s: %w", files.Windows, err)
		}
		return nil
	}
	text, known := r.file(ctx, deployment, "maintenance policy", "maintenance-policy-file", windowsFile)
	if r.WindowsKnown = known; len(text) == 0 {
		return ctx.Err()
	}
	var err error
	if r.Windows, err = policy.ParseWindows(text, least); err != nil {
		// The manager keeps the content that was in force before, which only it knows.
		r.WindowsKnown = false
		r.missf("the maintenance policy of the lifecycle manager is not understood: %s", reason(err))
	}
	return ctx.Err()
}

// approvals reads the approval policy: the user's, else the manager's.
func (r *reading) approvals(ctx context.Context, deployment *appsv1.Deployment, files Files) error {
	if files.Approvals != "" {
		text, err := files.ReadFile(ctx, files.Approvals)
		if err == nil {
			r.Approvals, err = policy.ParseApprovals(text)
		}
		if err != nil {
			return fmt.Errorf("approval policy %s: %w", files.Approvals, err)
		}
		return nil
	}
	if r.flags["approval-file"] == "" {
		return nil
	}
	text, known := r.file(ctx, deployment, "approval policy", "approval-file", "")
	if !known {
		return ctx.Err()
	}
	var err error
	if r.Approvals, err = policy.ParseApprovals(text); err != nil {
		r.missf("the approval policy of the lifecycle manager is not understood: %s", reason(err))
	}
	return ctx.Err()
}

// file returns the text of a file of the manager, and whether that is known. A manager that mounts nothing at the usual place has no such
// file; one whose flag names another has it, from wherever.
func (r *reading) file(ctx context.Context, deployment *appsv1.Deployment, what, flag, usual string) (text []byte, known bool) {
	if !r.Known {
		return nil, false
	}
	path := cmp.Or(r.flags[flag], usual)
	at, mounted := takeover.FileIn(deployment, path)
	found := &corev1.ConfigMap{}
	var err error
	if mounted {
		err = r.from.Get(ctx, client.ObjectKey{Namespace: deployment.Namespace, Name: at.ConfigMap}, found)
	}
	switch absent := !mounted || apierrors.IsNotFound(err); {
	case absent && r.flags[flag] == "":
		return nil, true
	case absent:
		r.missf("the %s at %s of the lifecycle manager is in no ConfigMap that can be read here", what, path)
		return nil, false
	case err != nil:
		r.missf("the %s in ConfigMap %s/%s cannot be read: %s", what, deployment.Namespace, at.ConfigMap, reason(err))
		return nil, false
	}
	if data, binary := found.BinaryData[at.Key]; binary {
		return data, true
	}
	return []byte(found.Data[at.Key]), true
}

// reason returns an error in one line.
func reason(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

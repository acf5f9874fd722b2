package playground

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestOperators_WhatShouldRun(t *testing.T) {
	old := workload{version: older, account: "a"}
	updated := workload{version: newer, account: "a"}
	for name, tc := range map[string]struct {
		deployment *appsv1.Deployment
		account    string
		runs       workload
		want       workload
	}{
		"nothing without a Deployment":                     {nil, "a", workload{}, workload{}},
		"nothing without a ServiceAccount":                 {greeterDeployment(older), "", workload{}, workload{}},
		"nothing before the Deployment is available":       {greeterDeployment(older, unavailable), "a", workload{}, workload{}},
		"nothing once the Deployment is being deleted":     {greeterDeployment(older, deleted), "a", old, workload{}},
		"the version of the image once it is available":    {greeterDeployment(older), "a", workload{}, old},
		"the old version while pods of the new one start":  {greeterDeployment(newer, rolling), "a", old, old},
		"the new version when its pods run":                {greeterDeployment(newer), "a", old, updated},
		"whatever is available when nothing runs yet":      {greeterDeployment(newer, rolling), "a", workload{}, updated},
		"a new process for a recreated ServiceAccount":     {greeterDeployment(older), "b", old, workload{older, "b"}},
		"even while pods of a new version start":           {greeterDeployment(newer, rolling), "b", old, workload{newer, "b"}},
		"the same while the status is for an earlier spec": {greeterDeployment(newer, unobserved), "a", old, old},
	} {
		t.Run(name, func(t *testing.T) {
			o := &operators{module: moduleGreeter, runs: tc.runs, deployments: deploymentLister(t, tc.deployment), accounts: accountLister(t, tc.account)}
			if tc.runs != (workload{}) {
				o.current = &process{}
			}
			got, err := o.wanted()
			if err != nil || got != tc.want {
				t.Errorf("wanted() = %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

func greeterDeployment(version string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace(moduleGreeter), Name: moduleGreeter, Generation: 2}}
	d.Spec.Template.Spec.ServiceAccountName = moduleGreeter
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "samples.kyma-project.io/greeter:" + version}}
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	for _, change := range changes {
		change(d)
	}
	return d
}

func unavailable(d *appsv1.Deployment) { d.Status.Conditions[0].Status = corev1.ConditionFalse }
func deleted(d *appsv1.Deployment)     { d.DeletionTimestamp = new(metav1.Now()) }
func rolling(d *appsv1.Deployment)     { d.Status.Replicas = 2 }
func unobserved(d *appsv1.Deployment)  { d.Generation = 3 }

func deploymentLister(t *testing.T, deployment *appsv1.Deployment) appslisters.DeploymentLister {
	t.Helper()
	if deployment == nil {
		return appslisters.NewDeploymentLister(indexer(t))
	}
	return appslisters.NewDeploymentLister(indexer(t, deployment))
}

func accountLister(t *testing.T, uid string) corelisters.ServiceAccountLister {
	t.Helper()
	if uid == "" {
		return corelisters.NewServiceAccountLister(indexer(t))
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace(moduleGreeter), Name: moduleGreeter, UID: types.UID(uid)}}
	return corelisters.NewServiceAccountLister(indexer(t, account))
}

func indexer(t *testing.T, objects ...any) cache.Indexer {
	t.Helper()
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, object := range objects {
		if err := i.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	return i
}

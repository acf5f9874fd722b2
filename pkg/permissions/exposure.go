package permissions

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// analyseExposure reports what can be reached from outside the cluster.
func (b *builder) analyseExposure() {
	for _, object := range b.ofKind("", "Service") {
		service := corev1.Service{}
		if err := decode(object, &service); err != nil {
			b.unreadable(object, "from where it can be reached is unknown")
			continue
		}
		switch service.Spec.Type {
		case corev1.ServiceTypeLoadBalancer:
			b.expose(object, Access{What: accessLoadBalancer}, "spec.type")
		case corev1.ServiceTypeNodePort:
			b.expose(object, Access{What: accessNodePort}, "spec.type")
		case corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName:
		}
		for _, address := range service.Spec.ExternalIPs {
			b.expose(object, Access{What: accessExternalIP, Detail: address}, "spec.externalIPs")
		}
	}
	for _, object := range b.ofKind(networkingv1.GroupName, "Ingress") {
		b.exposeIngress(object)
	}
	for _, object := range b.ofKind("gateway.networking.k8s.io", "Gateway") {
		b.expose(object, Access{What: accessGateway}, "spec.listeners")
	}
}

func (b *builder) exposeIngress(object *unstructured.Unstructured) {
	ingress := networkingv1.Ingress{}
	if err := decode(object, &ingress); err != nil {
		b.unreadable(object, "from where it can be reached is unknown")
		return
	}
	if ingress.Spec.DefaultBackend != nil {
		b.expose(object, Access{What: accessIngress, Detail: "every address"}, "spec.defaultBackend")
	}
	for i, rule := range ingress.Spec.Rules {
		host := rule.Host
		if host == "" {
			host = "every address"
		}
		b.expose(object, Access{What: accessIngress, Detail: host}, "spec.rules["+strconv.Itoa(i)+"].host")
	}
}

func (b *builder) expose(object *unstructured.Unstructured, a Access, field string) {
	a.Carrier = object.GetKind() + " " + namespaceOf(object) + "/" + object.GetName()
	b.add(a.finding(a.Carrier + " " + field))
}

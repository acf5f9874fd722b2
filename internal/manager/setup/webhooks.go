package setup

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/internal/manager/conversion"
)

const (
	// webhookService is upstream's; it is defined in config/components/webhook.
	webhookService = "klm-webhook-service"
	// webhookSecret holds the certificate, in the operator's namespace.
	webhookSecret = "klm-webhook-certificate" //nolint:gosec // a name
)

func bindWebhooks(set *flag.FlagSet, c *Config) {
	set.BoolVar(&c.Webhooks, "enable-webhooks", c.Webhooks,
		"serve the conversion of v1alpha1; it needs the definitions and rights of config/components/webhook")
	set.StringVar(&c.WebhookAddress, "webhook-bind-address", c.WebhookAddress, "address of the webhooks")
	set.StringVar(&c.WebhookService, "webhook-service", c.WebhookService,
		"Service (namespace/name, port 443) by which the API server reaches them (default: "+webhookService+" in the operator's namespace)")
	set.StringVar(&c.WebhookURL, "webhook-url", c.WebhookURL,
		"how the API server reaches them when they are outside the cluster: https://host[:port]")
}

func (c *Config) webhookProblems() []error {
	var problems []error
	if c.WebhookService != "" {
		if _, err := serviceName(c.WebhookService); err != nil {
			problems = append(problems, err)
		}
		if c.WebhookURL != "" {
			problems = append(problems, errors.New("--webhook-service and --webhook-url are exclusive: use one of them"))
		}
	}
	if c.WebhookURL != "" {
		address, err := url.Parse(c.WebhookURL)
		if err != nil || address.Scheme != "https" || address.Hostname() == "" || address.User != nil || address.Path != "" ||
			address.RawQuery != "" || address.Fragment != "" {
			problems = append(problems, errors.New("--webhook-url: write https://host[:port] and nothing else"))
		}
	}
	if c.Webhooks && c.WebhookLifetime < time.Second {
		problems = append(problems, fmt.Errorf("a certificate of the webhooks lives for at least a second, not %s", c.WebhookLifetime))
	}
	return problems
}

func serviceName(text string) (types.NamespacedName, error) {
	namespace, name, two := strings.Cut(text, "/")
	if !two || namespace == "" || name == "" || strings.Contains(name, "/") {
		return types.NamespacedName{}, fmt.Errorf("--webhook-service %q: write namespace/name", text)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// serveWebhooks adds the conversion webhook, if it is requested. Every replica has one. It outlives the controllers: the API server calls
// it for their writes to objects whose fields users have set with v1alpha1.
func (a *assembly) serveWebhooks() error {
	mgr, c := a.mgr, a.config
	if !c.Webhooks {
		return nil
	}
	service, err := serviceName(cmp.Or(c.WebhookService, c.OperatorNamespace+"/"+webhookService))
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(a.hub)
	if err != nil {
		return fmt.Errorf("conversion webhook: %w", err)
	}
	served := &conversion.Webhook{
		Addr: c.WebhookAddress, Endpoint: conversion.Endpoint{Service: service, URL: c.WebhookURL},
		Secret:   types.NamespacedName{Namespace: c.OperatorNamespace, Name: webhookSecret},
		Lifetime: c.WebhookLifetime, Client: client, Log: mgr.GetLogger().WithName("webhook"), Now: time.Now,
		Listening: a.hooks.WebhookListening,
	}
	if err := mgr.AddReadyzCheck("webhook", served.Ready); err != nil {
		return err
	}
	return mgr.Add(a.lasts.of(served))
}

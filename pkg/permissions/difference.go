package permissions

import "slices"

// Empty reports whether the two versions may do the same and consist of the same images, definitions and webhooks.
func (d Difference) Empty() bool {
	return len(d.Added) == 0 && len(d.Removed) == 0 && len(d.DefinitionsChanged) == 0 && len(d.WebhooksAdded) == 0 &&
		len(d.WebhooksChanged) == 0 && len(d.WebhooksRemoved) == 0 && len(d.APIServicesAdded) == 0 && len(d.APIServicesChanged) == 0 &&
		len(d.APIServicesRemoved) == 0 && len(d.ImagesAdded) == 0 && len(d.ImagesRemoved) == 0 && len(d.ImagesChanged) == 0
}

// NewRights reports whether the later version has rights that the earlier one has not. What every module does, such as writing events
// and its own kinds, does not count.
func (d Difference) NewRights() bool { return slices.ContainsFunc(d.Added, asks) }

// NewWebhook reports whether a webhook or admission policy is new, or an existing one intercepts more than before.
func (d Difference) NewWebhook() bool {
	return len(d.WebhooksAdded) > 0 || slices.ContainsFunc(d.Added, func(f Finding) bool { return f.Category == CategoryWebhook })
}

// DefinitionChange reports whether a CustomResourceDefinition is new, gone or different.
func (d Difference) DefinitionChange() bool { return len(d.DefinitionsChanged) > 0 }

// asks reports whether a finding is a right that counts as one.
func asks(f Finding) bool { return f.Category.asks() && f.Severity > Info }

// Counts returns how many rights come and go, how many definitions differ, how many webhooks are new or different, and how many images come
// from new repositories.
func (d Difference) Counts() (rightsAdded, rightsRemoved, definitions, webhooks, images int) {
	return count(d.Added), count(d.Removed), len(d.DefinitionsChanged), len(d.WebhooksAdded) + len(d.WebhooksChanged), len(d.ImagesAdded)
}

func count(findings []Finding) (total int) {
	for _, f := range findings {
		if asks(f) {
			total++
		}
	}
	return total
}

// Gravest returns the sentences of the gravest things that the later version asks for, at most n, each with at most 160 bytes.
func (d Difference) Gravest(n int) []string {
	news := slices.Clone(d.Added)
	for _, change := range d.DefinitionsChanged {
		news = append(news, change.findings()...)
	}
	for _, image := range d.ImagesAdded {
		news = append(news, image.addedFinding())
	}
	var sentences []string
	for _, f := range sortFindings(news) {
		if len(sentences) == max(n, 0) {
			break
		}
		if !slices.Contains(sentences, f.Sentence) {
			sentences = append(sentences, f.Sentence)
		}
	}
	return sentences
}

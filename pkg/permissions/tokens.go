package permissions

import corev1 "k8s.io/api/core/v1"

// analyseTokens reports tokens of ServiceAccounts that are kept in Secrets, where they do not expire.
func (b *builder) analyseTokens() {
	for _, object := range b.ofKind("", "Secret") {
		if object.Object["type"] != string(corev1.SecretTypeServiceAccountToken) {
			continue
		}
		account := namespaceOf(object) + "/" + object.GetAnnotations()[corev1.ServiceAccountNameKey]
		severity := Medium
		if !b.accounts[account] {
			severity = High
		}
		b.add(Finding{
			Key: joinKey("token", "secret", escapes.Replace(account)), Category: CategoryToken, Severity: severity, Rule: place(object),
			Subject:  prefixAccount + account,
			Sentence: "Keeps a token of ServiceAccount " + short(account) + " in a Secret, where it never expires.",
		})
	}
}

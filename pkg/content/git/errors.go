package git

import "github.com/kyma-project/lifecycle-manager/pkg/content"

func sourceInvalid(format string, args ...any) error {
	return content.Errorf(content.ReasonSourceInvalid, format, args...)
}

func notFound(format string, args ...any) error {
	return content.Errorf(content.ReasonContentNotFound, format, args...)
}

func invalid(format string, args ...any) error {
	return content.Errorf(content.ReasonContentInvalid, format, args...)
}

func refuse(format string, args ...any) error {
	return content.Errorf(content.ReasonArchiveRefused, "archive refused: "+format, args...)
}

func tooLarge(format string, args ...any) error {
	return content.Errorf(content.ReasonContentTooLarge, format, args...)
}

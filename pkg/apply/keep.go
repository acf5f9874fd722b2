package apply

// AnnotationKeep ("true") on an object keeps it from ever being deleted: it stays behind when the content drops it or the installation ends.
const AnnotationKeep = "operator.kyma-project.io/keep"

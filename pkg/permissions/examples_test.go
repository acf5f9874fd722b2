package permissions

var examples = []struct {
	category   Category
	what, part string
	objects    string
}{}

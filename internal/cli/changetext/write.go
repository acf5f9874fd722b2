package changetext

import (
	"fmt"
	"io"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

const (
	// shownDetails is how many details of a group are shown without --all, shownFields how many fields of an object.
	shownDetails = 10
	shownFields  = 5
	// width of the first column.
	width = 14
)

// Write writes what changes, a line for each group and its details below. all shows every detail, and every field of every object.
func Write(to io.Writer, changes *releasepreview.Changes, all bool) {
	most := shownDetails
	if all {
		most = 0
	}
	for _, line := range changes.Summary(most) {
		fmt.Fprintf(to, "  %-*s%s\n", width, line.Group, console.OneLine(line.Text))
		for _, detail := range line.Details {
			fmt.Fprintf(to, "  %*s%s\n", width, "", console.OneLine(detail))
			if line.Group == "objects" && all {
				writeFieldsOf(to, changes, detail)
			}
		}
		more(to, line.More)
	}
}

// writeFieldsOf writes the fields of the changed object that a detail names.
func writeFieldsOf(to io.Writer, changes *releasepreview.Changes, detail string) {
	for i := range changes.Objects.Changed {
		object := &changes.Objects.Changed[i]
		if len(object.Fields) > 1 && strings.HasPrefix(detail, "~ "+object.String()+":") {
			writeFields(to, object.Fields, len(object.Fields))
			more(to, object.MoreFields)
		}
	}
}

func writeFields(to io.Writer, fields []releasepreview.Field, most int) {
	for _, field := range fields[:min(len(fields), most)] {
		fmt.Fprintf(to, "  %*s    %s\n", width, "", console.OneLine(field.String()))
	}
}

func more(to io.Writer, count int) {
	if count > 0 {
		fmt.Fprintf(to, "  %*sand %d more\n", width, "", count)
	}
}

// signs mark what happens to an object.
var signs = map[apply.Change]string{apply.ChangeCreate: "+", apply.ChangeUpdate: "~", apply.ChangeDelete: "-", apply.ChangeRefused: "!"}

// WriteAnswer writes what a cluster says.
func WriteAnswer(to io.Writer, answer *releaseoutlook.Answer, all bool) {
	switch {
	case answer.Refused > 0:
		fmt.Fprintf(to, "  It would refuse %d of %d objects.\n", answer.Refused, len(answer.Objects)+answer.Unchanged)
	case len(answer.Objects) == 0:
		fmt.Fprintf(to, "  It would accept everything, and change nothing: %d objects are as they would be.\n", answer.Unchanged)
	default:
		fmt.Fprintf(to, "  It would accept everything: %d objects would change, %d would not.\n", len(answer.Objects), answer.Unchanged)
	}
	objects, fields := answer.Objects, shownFields
	if all {
		fields = int(^uint(0) >> 1)
	}
	left := 0
	for i := range objects {
		object := &objects[i]
		if !all && i >= shownDetails && object.Change != apply.ChangeRefused {
			left++
			continue
		}
		text := signs[object.Change] + " " + object.String()
		if object.Note != "" {
			text += ": " + object.Note
		}
		fmt.Fprintf(to, "  %s\n", console.OneLine(text))
		for _, field := range object.Fields[:min(len(object.Fields), fields)] {
			fmt.Fprintf(to, "      %s\n", console.OneLine(field.String()))
		}
		if over := len(object.Fields) - fields; over > 0 {
			fmt.Fprintf(to, "      and %d more fields\n", over)
		}
	}
	if left > 0 {
		fmt.Fprintf(to, "  and %d more objects\n", left)
	}
}

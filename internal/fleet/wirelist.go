package fleet

import (
	"encoding/json"
	"fmt"
	"io"

	kjson "sigs.k8s.io/json"
)

// readList hands over the items of a list one by one, so that a page is never in memory as a whole, and returns the list's metadata.
func readList(body io.Reader, n needs, take func(*wireObject) error) (list wireList, err error) {
	dec := kjson.NewDecoderCaseSensitivePreserveInts(body)
	if err := expect(dec, json.Delim('{')); err != nil {
		return list, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return list, err
		}
		switch key {
		case "metadata":
			err = dec.Decode(&list)
		case "items":
			err = readItems(dec, n, take)
		default:
			var skipped json.RawMessage
			err = dec.Decode(&skipped)
		}
		if err != nil {
			return list, err
		}
	}
	return list, expect(dec, json.Delim('}'))
}

func readItems(dec kjson.Decoder, n needs, take func(*wireObject) error) error {
	open, err := dec.Token()
	if err != nil || open == nil { // null stands for none
		return err
	}
	if open != json.Delim('[') {
		return fmt.Errorf("items of the list are %v, not an array", open)
	}
	for dec.More() {
		o, err := readItem(dec, n)
		if err != nil {
			return err
		}
		if err := take(o); err != nil {
			return err
		}
	}
	return expect(dec, json.Delim(']'))
}

// readItem reads as much of one item of a list as is needed.
func readItem(dec kjson.Decoder, n needs) (*wireObject, error) {
	switch {
	case n.keep:
		var o wireWhole
		err := dec.Decode(&o)
		return &o.wireObject, err
	case n.full():
		var o wireObject
		err := dec.Decode(&o)
		return &o, err
	}
	var m wireMeta
	err := dec.Decode(&m)
	return &wireObject{Metadata: m.Metadata}, err
}

func expect(dec kjson.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%v instead of %v in a list", got, want)
	}
	return nil
}

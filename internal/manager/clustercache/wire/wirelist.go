package wire

import (
	"encoding/json"
	"fmt"
	"io"

	kjson "sigs.k8s.io/json"
)

// ReadList calls take for each item of a list, so that a page is never in memory as a whole, and returns the list's metadata.
func ReadList(body io.Reader, depth Depth, take func(*Object) error) (list List, err error) {
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
			err = readItems(dec, depth, take)
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

func readItems(dec kjson.Decoder, depth Depth, take func(*Object) error) error {
	open, err := dec.Token()
	if err != nil || open == nil { // null stands for none
		return err
	}
	if open != json.Delim('[') {
		return fmt.Errorf("items of the list are %v, not an array", open)
	}
	for dec.More() {
		o, err := readItem(dec, depth)
		if err != nil {
			return err
		}
		if err := take(o); err != nil {
			return err
		}
	}
	return expect(dec, json.Delim(']'))
}

// readItem reads only the needed part of one item of a list.
func readItem(dec kjson.Decoder, depth Depth) (*Object, error) {
	switch depth {
	case DepthWhole:
		var o wholeObject
		err := dec.Decode(&o)
		return &o.Object, err
	case DepthFull:
		var o Object
		err := dec.Decode(&o)
		return &o, err
	case DepthMetadata:
	}
	var m metadataObject
	err := dec.Decode(&m)
	return &Object{Metadata: m.Metadata}, err
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

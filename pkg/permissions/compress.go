package permissions

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
)

// maxReport bounds what a compressed report may become.
const maxReport = 64 << 20

// Compress returns the report in a form that takes about a tenth of its memory, for those who keep thousands of them. Equal reports
// give equal bytes.
func (r Report) Compress() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("compress a report: %w", err)
	}
	var compressed bytes.Buffer
	writer, err := flate.NewWriter(&compressed, flate.DefaultCompression)
	if err != nil {
		return nil, fmt.Errorf("compress a report: %w", err)
	}
	if _, err := writer.Write(data); err != nil {
		return nil, fmt.Errorf("compress a report: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compress a report: %w", err)
	}
	return bytes.Clone(compressed.Bytes()), nil
}

// Decompress returns the report that Compress made the data of.
func Decompress(data []byte) (Report, error) {
	report := Report{}
	reader := flate.NewReader(bytes.NewReader(data))
	text, err := io.ReadAll(io.LimitReader(reader, maxReport+1))
	if err == nil && len(text) > maxReport {
		err = fmt.Errorf("it has more than %d bytes", maxReport)
	}
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		return Report{}, fmt.Errorf("decompress a report: %w", err)
	}
	return report, nil
}

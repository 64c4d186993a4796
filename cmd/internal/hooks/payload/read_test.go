package payload

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReadDocument: a harness may keep the pipe open behind its document.
func TestReadDocument(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"}","b":[{"c":"\"}"}]} rest`: `{"a":"}","b":[{"c":"\"}"}]}`,
		" {}\n{":                           " {}",
		`"a string`:                        `"a string`,
		"}":                                "}",
		`{"cut":`:                          `{"cut":`,
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
			if got, err := readDocument(r); string(got) != want || err != nil {
				t.Errorf("%q, %s: %q, %v, want %q", in, name, got, err, want)
			}
		}
	}
	if _, err := readDocument(strings.NewReader("")); err != io.EOF {
		t.Errorf("nothing: %v", err)
	}
	open, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = w.Write([]byte(`{"open":1}`)) }()
	if got, err := readDocument(open); string(got) != `{"open":1}` || err != nil {
		t.Errorf("a pipe that stays open: %q, %v", got, err)
	}
}

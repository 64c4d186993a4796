package turn

import (
	"fmt"
	"testing"
)

func TestParseArtifact(t *testing.T) {
	for text, want := range map[string]string{
		"a.go":                       `{"a.go" [] ""}`,
		"a.go:7":                     `{"a.go" [7 7] ""}`,
		"a.go:1-9=edit":              `{"a.go" [1 9] "edit"}`,
		"a.go=review":                `{"a.go" [] "review"}`,
		"a=b.go":                     `{"a=b.go" [] ""}`,
		"c:d.go":                     `{"c:d.go" [] ""}`,
		`C:\x\y.go:3`:                `{"C:\\x\\y.go" [3 3] ""}`,
		"https://example.org/a":      `{"https://example.org/a" [] ""}`,
		"a.go=EDIT":                  "",
		"a.go=foo":                   "",
		"a.go=":                      "",
		"a.go:abc":                   "",
		"a.go:":                      "",
		"a.go:10-":                   "",
		"a.go:-10":                   "",
		"a.go:1-2-3":                 "",
		"a.go:10:20":                 "",
		"a.go:10-=edit":              "",
		"a.go:1-9999999999999999999": "",
	} {
		a, err := ParseArtifact(text)
		got := ""
		if err == nil {
			got = fmt.Sprintf("{%q %v %q}", a.Path, a.Lines, a.Role)
		}
		if got != want {
			t.Errorf("%q is %s, want %s (%v)", text, got, want, err)
		}
	}
}

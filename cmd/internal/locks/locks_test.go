package locks

import (
	"strings"
	"testing"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "0": true, "gpu-0": true, "a.b_c-d": true, "a..": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "A": false, "-a": false, ".": false, "..": false, "_a": false,
		"a/b": false, `a\b`: false, "a b": false, "a\n": false, "ä": false, "a\x00": false, "a@b": false, "a#1": false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestRefs(t *testing.T) {
	ref := Ref{ID{"build", "payments-5009ec41113e0df2"}, 17, "9f3c"}
	if got, ok := parseRef(ref.String()); !ok || got != ref {
		t.Errorf("%q: %+v, %v", ref, got, ok)
	}
	for _, text := range []string{
		"", "build", "build@x", "build@x#", "build@x#1", "build@x#1:", "build@x#0:a", "build@x#-1:a", "build@x#1x:a",
		"build@../x#1:a", "../b@x#1:a", "@x#1:a", "b@#1:a", "build@x#99999999999999999999:a",
	} {
		if got, ok := parseRef(text); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func FuzzRef(f *testing.F) {
	f.Add("build@payments-5009ec41113e0df2#17:9f3c")
	f.Fuzz(func(t *testing.T, text string) {
		ref, ok := parseRef(text)
		if !ok {
			return
		}
		if again, ok := parseRef(ref.String()); !ok || again != ref {
			t.Errorf("%q: %+v, then %+v", text, ref, again)
		}
	})
}

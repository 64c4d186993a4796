package githook

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const body = "one\ntwo\n"

func TestInsert(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"empty", "", "# >>> talking-stick >>>\none\ntwo\n# <<< talking-stick <<<\n"},
		{"ended", "a\n", "a\n# >>> talking-stick >>>\none\ntwo\n# <<< talking-stick <<<\n"},
		{"unended", "a", "a\n# >>> talking-stick >>>\none\ntwo\n# <<< talking-stick <<<"},
		{"CRLF", "a\r\n", "a\r\n# >>> talking-stick >>>\r\none\r\ntwo\r\n# <<< talking-stick <<<\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := withBlock([]byte(tt.before), body)
			if string(got) != tt.after {
				t.Errorf("got %q want %q", got, tt.after)
			}
			if again := withBlock(got, body); string(again) != tt.after {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}

func TestWithBlock(t *testing.T) {
	got := withBlock([]byte("#!/bin/sh\nexit 0\n"), body)
	want := "#!/bin/sh\n# >>> talking-stick >>>\none\ntwo\n# <<< talking-stick <<<\nexit 0\n"
	if string(got) != want {
		t.Errorf("got %q want %q", got, want)
	}
	changed := withBlock(got, "three\n")
	if want := strings.Replace(want, body, "three\n", 1); string(changed) != want {
		t.Errorf("changed %q, want %q", changed, want)
	}
	if back, ok := withoutBlock(changed); !ok || string(back) != "#!/bin/sh\nexit 0\n" {
		t.Errorf("removed: %q", back)
	}
}

func TestABlockWithoutEndIsLeftAlone(t *testing.T) {
	src := "a\n# >>> talking-stick >>>\nb\n"
	if got, ok := withoutBlock([]byte(src)); ok || string(got) != src {
		t.Errorf("removed %v: %q", ok, got)
	}
}

func TestRemoveIsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "#!/bin/sh", "exit 0", "# <<< talking-stick <<<", "[hooks]"}), 0, 5).Draw(t, "lines")
		before := strings.Join(lines, eol)
		after, ok := withoutBlock(withBlock([]byte(before), body))
		if !ok || string(after) != before {
			t.Fatalf("got %q want %q", after, before)
		}
	})
}

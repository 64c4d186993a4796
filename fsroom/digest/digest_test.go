package digest

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"pgregory.net/rapid"
)

func TestSumsOfEveryLength(t *testing.T) {
	for n := range 4*blockSize + 1 {
		data := bytes.Repeat([]byte{byte(n)}, n)
		if got, want := Sum256(data), sha256.Sum256(data); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestSumsOfRandomData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		if got, want := Sum256(data), sha256.Sum256(data); got != want {
			t.Errorf("%x: %x, want %x", data, got, want)
		}
	})
}

func TestSumOfAMegabyte(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if got, want := Sum256(data), sha256.Sum256(data); got != want {
		t.Errorf("%x, want %x", got, want)
	}
}

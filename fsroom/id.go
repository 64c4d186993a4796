package fsroom

import (
	"crypto/rand"
	"encoding/hex"
)

// NewID returns a random UUID (version 4).
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program where there is no randomness
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

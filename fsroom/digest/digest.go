// Package digest computes SHA-256 sums of short texts: the names of rooms, the ids of
// agents, fingerprints of files.
//
// The sums name things and protect nothing. Crypto/sha256 gives the same sums, but brings
// the FIPS module with it: 150 kB of every program, and its start-up tests.
package digest

import (
	"encoding/binary"
	"math/bits"
)

const (
	blockSize  = 64
	lengthSize = 8 // of the length in bits at the end of the last block
)

// initial are the first 32 bits of the fractional parts of the square roots of the first
// eight prime numbers.
var initial = [8]uint32{
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

// rounds are the first 32 bits of the fractional parts of the cube roots of the first 64
// prime numbers.
var rounds = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// Sum256 returns the SHA-256 sum of data (FIPS 180-4).
func Sum256(data []byte) (sum [32]byte) {
	state := initial
	rest := data
	for ; len(rest) >= blockSize; rest = rest[blockSize:] {
		state = add(state, rest[:blockSize])
	}
	// What is left is followed by one bit, zeros, and the length, to the end of a block.
	var end [2 * blockSize]byte
	n := copy(end[:], rest)
	end[n] = 0x80
	size := blockSize
	if n+1+lengthSize > blockSize {
		size = 2 * blockSize
	}
	binary.BigEndian.PutUint64(end[size-lengthSize:], uint64(len(data))*8)
	for block := end[:size]; len(block) > 0; block = block[blockSize:] {
		state = add(state, block[:blockSize])
	}
	for i, word := range state {
		binary.BigEndian.PutUint32(sum[4*i:], word)
	}
	return sum
}

// add returns the state after one more block.
func add(state [8]uint32, block []byte) [8]uint32 {
	var schedule [64]uint32
	for i := range 16 {
		schedule[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := 16; i < 64; i++ {
		x, y := schedule[i-15], schedule[i-2]
		s0 := rotateRight(x, 7) ^ rotateRight(x, 18) ^ x>>3
		s1 := rotateRight(y, 17) ^ rotateRight(y, 19) ^ y>>10
		schedule[i] = schedule[i-16] + s0 + schedule[i-7] + s1
	}
	a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	for i, word := range schedule {
		s1 := rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)
		t1 := h + s1 + (e&f ^ ^e&g) + rounds[i] + word
		s0 := rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)
		t2 := s0 + (a&b ^ a&c ^ b&c)
		a, b, c, d, e, f, g, h = t1+t2, a, b, c, d+t1, e, f, g
	}
	for i, word := range [8]uint32{a, b, c, d, e, f, g, h} {
		state[i] += word
	}
	return state
}

func rotateRight(x uint32, n int) uint32 { return bits.RotateLeft32(x, -n) }

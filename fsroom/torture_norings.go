//go:build torture_norings

package fsroom

const rings = false

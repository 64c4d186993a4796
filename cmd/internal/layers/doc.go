// Package layers holds the test that keeps the arrows between packages pointing
// down.
package layers

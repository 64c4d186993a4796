//go:build !linux && !windows

package main

import "errors"

func keepFrom(uint) error { return errors.ErrUnsupported }

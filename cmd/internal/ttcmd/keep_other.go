//go:build !linux && !windows

package ttcmd

import "errors"

func keepFrom(uint) error { return errors.ErrUnsupported }

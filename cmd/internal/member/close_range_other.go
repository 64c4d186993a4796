//go:build !linux && !windows

package member

import "errors"

func closeRange(uint) error { return errors.ErrUnsupported }

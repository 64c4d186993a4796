package main

import "errors"

func await(string) error { return errors.ErrUnsupported }

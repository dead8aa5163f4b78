//go:build !unix

package sessiontree_test

import "errors"

func holdKernelLock(string) error { return errors.ErrUnsupported }

//go:build unix

package durable

import "syscall"

// noFollow makes an open fail where the name is a symbolic link.
const noFollow = syscall.O_NOFOLLOW

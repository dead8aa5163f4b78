//go:build unix

package durable

import "syscall"

// noFollow makes an open fail where the name is a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// nonBlock keeps an open from waiting where a file became a pipe.
const nonBlock = syscall.O_NONBLOCK

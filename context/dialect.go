package modelcontext

import (
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A Dialect is a program's way to select what a model is sent.
type Dialect string

// The dialects. Native logs have pi's.
const (
	Pi  Dialect = "pi"
	Omp Dialect = "omp"
)

// dialectOf tells a log's dialect: by its header where that is enough, else by
// types of entries that only oh-my-pi writes. Only the part of the path that a
// context of pi's needs is looked at for them, so that the answer depends neither
// on other branches nor on how much of the log was read.
func dialectOf(t *sessiontree.Tree, path []entries.Entry) Dialect {
	if t.Native() {
		return Pi
	}
	if t.HeaderAgent() == sessiontree.AgentOmp {
		return Omp
	}
	for _, e := range path {
		if e.Type.OnlyOmp() {
			return Omp
		}
	}
	return Pi
}

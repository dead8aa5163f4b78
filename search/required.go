package search

import (
	"regexp/syntax"
)

// A literal is text that a match has to contain.
type literal struct {
	runes []rune
	fold  bool // in any case
}

// required lists literals of which each match of an expression contains one; none
// where the expression demands nothing.
func required(expr string) []literal {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return requiredOf(parsed.Simplify())
}

func requiredOf(e *syntax.Regexp) []literal {
	switch e.Op {
	case syntax.OpLiteral:
		return []literal{{e.Rune, e.Flags&syntax.FoldCase != 0}}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredOf(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return requiredOf(e.Sub[0])
		}
	case syntax.OpAlternate:
		return requiredOfAny(e.Sub)
	case syntax.OpConcat:
		return requiredOfAll(e.Sub)
	}
	return nil
}

// requiredOfAny is for alternatives: whatever any of them demands.
func requiredOfAny(subs []*syntax.Regexp) (list []literal) {
	const most = 8 // each costs another reading of the log
	for _, sub := range subs {
		one := requiredOf(sub)
		if one == nil || len(list)+len(one) > most {
			return nil
		}
		list = append(list, one...)
	}
	return list
}

// requiredOfAll is for parts in a row: what the most telling one demands.
func requiredOfAll(subs []*syntax.Regexp) (best []literal) {
	for _, sub := range subs {
		if list := requiredOf(sub); telling(list) > telling(best) {
			best = list
		}
	}
	return best
}

// telling is how long the shortest of some literals is, as far as it can be looked
// for; one that cannot makes all of them worthless.
func telling(list []literal) int {
	if len(list) == 0 {
		return 0
	}
	least := len(longestRun(list[0].runes))
	for _, l := range list[1:] {
		least = min(least, len(longestRun(l.runes)))
	}
	// Of equally long ones those that need fewer readings.
	return least*16 - min(len(list), 15)
}

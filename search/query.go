package search

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sessctl/sessctl/entries"
)

// A Query says what is looked for. Filters that are not set let everything pass.
type Query struct {
	Text string
	// Regexp reads Text as a regular expression (RE2, as Go's regexp has it); ^ and $
	// match at lines.
	Regexp     bool
	IgnoreCase bool // by Unicode's simple folding
	Words      bool // only matches that no letter, digit or _ touches

	Roles    []string // of messages; of other entries their type
	Tools    []string // only in calls of these tools and in their results
	ExitCode *int     // only results of commands that ended so
	Active   bool     // only on the path to the leaf
	Since    time.Time
	Until    time.Time

	// Around is how many lines before and after a match come with it.
	Around int
}

// ErrQuery is wrapped by the errors of Compile.
var ErrQuery = errors.New("cannot search for this")

// A Pattern is a Query that is ready to be looked for. It is safe for concurrent use.
type Pattern struct {
	query   Query
	plain   string         // the text, where cases matter and it is no expression
	expr    *regexp.Regexp // else
	needles []*needle      // each entry with a match has one of them; none: it may be any entry
}

// Compile prepares a query.
func Compile(q Query) (*Pattern, error) {
	if q.Text == "" {
		return nil, fmt.Errorf("%w: the text is empty", ErrQuery)
	}
	if !utf8.ValidString(q.Text) {
		return nil, fmt.Errorf("%w: %q is not UTF-8, and the text of a session always is", ErrQuery, q.Text)
	}
	p := &Pattern{query: q}
	if !q.Regexp && !q.IgnoreCase {
		p.plain = q.Text
		p.needles = needlesOf([]literal{{runes: []rune(q.Text)}})
		return p, nil
	}
	return p, p.compileExpr()
}

func (p *Pattern) compileExpr() (err error) {
	text := p.query.Text
	if !p.query.Regexp {
		text = regexp.QuoteMeta(text)
	}
	flags := "(?m)"
	if p.query.IgnoreCase {
		flags = "(?mi)"
	}
	if p.expr, err = regexp.Compile(flags + text); err != nil {
		return fmt.Errorf("%w: %w", ErrQuery, err)
	}
	p.needles = needlesOf(required(p.expr.String()))
	return nil
}

// wants applies the filters that the envelope of an entry decides.
func (p *Pattern) wants(e *entries.Entry) bool {
	q := &p.query
	role := e.Role
	if e.Type != entries.TypeMessage {
		role = string(e.Type)
	}
	if len(q.Roles) > 0 && !slices.Contains(q.Roles, role) {
		return false
	}
	return (q.Since.IsZero() || !e.Time.Before(q.Since)) && (q.Until.IsZero() || e.Time.Before(q.Until))
}

// next finds the first match in s from the start of a line on; from is -1 where there
// is none.
func (p *Pattern) next(s string, line int) (from, to int) {
	if p.expr == nil {
		return p.nextPlain(s, line)
	}
	for line <= len(s) {
		found := p.expr.FindStringIndex(s[line:])
		if found == nil {
			return -1, -1
		}
		from, to = line+found[0], line+found[1]
		if !p.query.Words || isWord(s, from, to) {
			return from, to
		}
		line = strings.LastIndexByte(s[:from], '\n') + 1
		end := lineEnd(s, from)
		for _, found := range p.expr.FindAllStringIndex(s[line:end], -1) {
			if from, to = line+found[0], line+found[1]; isWord(s, from, to) {
				return from, to
			}
		}
		line = end + 1
	}
	return -1, -1
}

func (p *Pattern) nextPlain(s string, i int) (from, to int) {
	for i <= len(s) {
		n := strings.Index(s[i:], p.plain)
		if n < 0 {
			break
		}
		from, to = i+n, i+n+len(p.plain)
		if !p.query.Words || isWord(s, from, to) {
			return from, to
		}
		i = from + 1
	}
	return -1, -1
}

// lineEnd gives the position of the newline that ends the line i is on, or the end of s.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// isWord tells whether nothing that belongs to a word touches s[from:to].
func isWord(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

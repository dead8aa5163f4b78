package search

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A needle is a run of characters that JSON has no need to escape, looked for in the
// bytes of a log. JSON may spell each of them as it is, or as \uXXXX (two of these
// beyond the first plane, hexadecimal digits in either case). Where a string holds JSON
// itself, as some programs write arguments, an escape has more backslashes in front.
// Whoever decodes the line decides: a needle may find too much, never too little.
type needle struct {
	runes []rune
	fold  bool
	raw   []byte // the run as it is, where cases matter
	// rare is the index of what is least common: into raw of a byte, with fold into runes of
	// a character.
	rare  int
	pair  *pair  // the two rarest bytes, the first of them at rare; nil where there are none
	first []byte // the bytes that a match in any case starts with; only with fold
}

// needlesOf makes the needles of literals; none where one of them has no run that could
// be looked for.
func needlesOf(list []literal) (needles []*needle) {
	for _, l := range list {
		run := longestRun(l.runes)
		if len(run) == 0 {
			return nil
		}
		needles = append(needles, newNeedle(run, l.fold))
	}
	return needles
}

// longestRun gives the longest part that JSON has no need to escape. U+FFFD is not in
// it: it stands for whatever cannot be decoded.
func longestRun(runes []rune) (best []rune) {
	start := 0
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && !escapable(runes[i]) {
			continue
		}
		if i-start > len(best) {
			best = runes[start:i]
		}
		start = i + 1
	}
	return best
}

func escapable(r rune) bool {
	return r < 0x20 || r == '"' || r == '\\' || r == '/' || r == utf8.RuneError
}

func newNeedle(run []rune, fold bool) *needle {
	n := &needle{runes: run, fold: fold, raw: []byte(string(run))}
	if fold {
		n.anchor()
		return n
	}
	first, second := rarest(n.raw)
	n.rare = first
	if second > first {
		n.pair = newPair(n.raw[first], n.raw[second], second-first, false)
	}
	return n
}

// rarest gives the places of the two bytes of text that are least common, in their order;
// twice the same where text has only one.
func rarest(text []byte) (first, second int) {
	best, next := 0, 0
	for i := 1; i < len(text); i++ {
		switch {
		case rank(text[i]) > rank(text[best]):
			best, next = i, best
		case next == best || rank(text[i]) > rank(text[next]):
			next = i
		}
	}
	return min(best, next), max(best, next)
}

// common are bytes of logs from the most common one on; all others are rare.
const common = " e\\tna,oi\":rs{}ldupc0m/1gfh2y-.b_v3T4586k97wS[]xA()CIREDNPLOM"

// rank is the higher, the rarer a byte is.
func rank(b byte) int {
	if i := bytes.IndexByte([]byte(common), b); i >= 0 {
		return i
	}
	return len(common)
}

// anchor puts the run's rarest characters first in what is looked for in any case: the
// run is then found from there, in both directions. Two are better than one, where what
// stands between them is as long in any case.
func (n *needle) anchor() {
	if from, to := steady(n.runes); to-from > 1 {
		first, second := rarest([]byte(string(n.runes[from:to])))
		n.rare = from + first
		n.pair = newPair(byte(n.runes[n.rare]), byte(n.runes[from+second]), second-first, true)
		return
	}
	best := -1
	for i, r := range n.runes {
		starts, worst := startsOf(r), len(common)
		for _, b := range starts {
			worst = min(worst, rank(b))
		}
		if score := worst - 8*len(starts); best < 0 || score > best {
			best, n.rare, n.first = max(score, 0), i, starts
		}
	}
}

// steady gives the longest part of a run whose characters are ASCII in any case. (k and s
// are not: K and \u017f fold to them.)
func steady(run []rune) (from, to int) {
	start := 0
	for i := 0; i <= len(run); i++ {
		if i < len(run) && !slices.ContainsFunc(variants(run[i]), func(r rune) bool { return r >= utf8.RuneSelf }) {
			continue
		}
		if i-start > to-from {
			from, to = start, i
		}
		start = i + 1
	}
	return from, to
}

// startsOf lists the bytes with which a character starts in any case.
func startsOf(r rune) (list []byte) {
	for _, v := range variants(r) {
		if b := utf8.AppendRune(nil, v)[0]; bytes.IndexByte(list, b) < 0 {
			list = append(list, b)
		}
	}
	return list
}

// variants are the characters that equal r in any case, r among them.
func variants(r rune) []rune {
	list := []rune{r}
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		list = append(list, v)
	}
	return list
}

// same tells whether a character of a log is the one of the run at i.
func (n *needle) same(r rune, i int) bool {
	want := n.runes[i]
	if r == want || !n.fold {
		return r == want
	}
	for v := unicode.SimpleFold(want); v != want; v = unicode.SimpleFold(v) {
		if v == r {
			return true
		}
	}
	return false
}

// reach is how many bytes a spelling of the needle takes at most: beyond that two
// blocks of a log need not overlap.
func (n *needle) reach() int { return len(n.runes) * longestSpelling }

// longestSpelling is a surrogate pair, each half with some backslashes in front.
const longestSpelling = 2 * (len(`uXXXX`) + mostSlashes)

// mostSlashes bounds how deep JSON is looked for within JSON: each level doubles the
// backslashes.
const mostSlashes = 8

// plain finds the needle from position i on where none of it is escaped; -1 where it
// is not in data.
func (n *needle) plain(data []byte, i int) int {
	switch {
	case n.pair != nil:
		return n.plainPair(data, i)
	case n.fold:
		return n.plainFold(data, i)
	}
	if next := bytes.Index(data[i:], n.raw); next >= 0 {
		return i + next
	}
	return -1
}

// plainPair finds the needle by its two rarest bytes.
func (n *needle) plainPair(data []byte, i int) int {
	if !n.fold {
		i += n.rare // raw starts so many bytes before
	}
	for ; ; i++ {
		if i = n.pair.index(data, i); i < 0 {
			return -1
		}
		if n.fold {
			if n.around(data, i, n.rare) {
				return i
			}
		} else if bytes.HasPrefix(data[i-n.rare:], n.raw) {
			return i - n.rare
		}
	}
}

// plainFold finds the needle in any case, by the start of its rarest character.
func (n *needle) plainFold(data []byte, i int) int {
	next := make([]int, len(n.first)) // where each of the starts comes next
	for k := range next {
		next[k] = -1
	}
	for at := i; ; at++ {
		nearest := len(data)
		for k, b := range n.first {
			if next[k] < at {
				next[k] = indexByte(data, at, b)
			}
			nearest = min(nearest, next[k])
		}
		if nearest == len(data) {
			return -1
		}
		if at = nearest; n.around(data, at, n.rare) {
			return at
		}
	}
}

// indexByte finds b from position i on; the end of data stands for nowhere.
func indexByte(data []byte, i int, b byte) int {
	if next := bytes.IndexByte(data[min(i, len(data)):], b); next >= 0 {
		return i + next
	}
	return len(data)
}

var escape = newPair('\\', 'u', 1, false)

// escaped finds an escape that can be a character of the needle, with the rest of it
// around, from position i on; -1 where none is in data.
func (n *needle) escaped(data []byte, i int) int {
	for ; ; i++ {
		if i = escape.index(data, i); i < 0 || n.atEscape(data, i) {
			return i
		}
	}
}

// atEscape tells whether the escape at position i is a character of the run, with the
// rest of it around. Backslashes in front belong to it: the run has none.
func (n *needle) atEscape(data []byte, i int) bool {
	r, _, ok := decode(data[i:])
	if !ok {
		return false
	}
	before := i
	for before > 0 && data[before-1] == '\\' {
		before--
	}
	for k := range n.runes {
		if n.same(r, k) && n.forward(data[i:], k) && n.backward(data[:before], k-1) {
			return true
		}
	}
	return false
}

// around tells whether data has the whole run, its character k at position at.
func (n *needle) around(data []byte, at, k int) bool {
	return n.forward(data[at:], k) && n.backward(data[:at], k-1)
}

// forward tells whether data starts with the run from k on.
func (n *needle) forward(data []byte, k int) bool {
	for ; k < len(n.runes); k++ {
		r, size, ok := decode(data)
		if !ok || !n.same(r, k) {
			return false
		}
		data = data[size:]
	}
	return true
}

// backward tells whether data ends with the run up to k. An escape ends in what may be
// characters of the run, so both readings are tried.
func (n *needle) backward(data []byte, k int) bool {
	for ; k >= 0; k-- {
		if r, start := lastEscape(data); start >= 0 && n.same(r, k) && n.backward(data[:start], k-1) {
			return true
		}
		r, size := utf8.DecodeLastRune(data)
		if !n.same(r, k) {
			return false
		}
		data = data[:len(data)-size]
	}
	return true
}

// decode reads the character that data starts with, in either spelling.
func decode(data []byte) (r rune, size int, ok bool) {
	if len(data) == 0 {
		return 0, 0, false
	}
	if data[0] != '\\' {
		r, size = utf8.DecodeRune(data)
		return r, size, true
	}
	r, size = escapeUnit(data)
	if size == 0 {
		return 0, 0, false
	}
	if utf16.IsSurrogate(r) {
		low, more := escapeUnit(data[size:])
		return utf16.DecodeRune(r, low), size + more, more > 0
	}
	return r, size, true
}

// escapeUnit reads backslashes, u and four digits; size is 0 where data starts with
// something else.
func escapeUnit(data []byte) (r rune, size int) {
	slashes := 0
	for slashes < len(data) && data[slashes] == '\\' && slashes < mostSlashes {
		slashes++
	}
	size = slashes + len("uXXXX")
	if slashes == 0 || len(data) < size || data[slashes] != 'u' {
		return 0, 0
	}
	digits := data[slashes+1 : size]
	for _, c := range digits {
		if !isHex(c) {
			return 0, 0
		}
	}
	return jsonvalue.Hex4(digits), size
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// lastEscape reads the escape that data ends with, and gives where it starts, with all
// its backslashes; -1 where it ends with none.
func lastEscape(data []byte) (r rune, start int) {
	start = lastUnit(data)
	if start < 0 {
		return 0, -1
	}
	r, _ = escapeUnit(data[start:])
	if high := lastUnit(data[:start]); utf16.IsSurrogate(r) && high >= 0 {
		first, _ := escapeUnit(data[high:])
		if pair := utf16.DecodeRune(first, r); pair != utf8.RuneError {
			return pair, high
		}
	}
	return r, start
}

// lastUnit gives where the escape of one unit starts that data ends with, or -1.
func lastUnit(data []byte) int {
	const rest = len("uXXXX")
	at := len(data) - rest
	if at < 1 || data[at] != 'u' || data[at-1] != '\\' {
		return -1
	}
	for _, c := range data[at+1:] {
		if !isHex(c) {
			return -1
		}
	}
	start := at
	for start > 0 && at-start < mostSlashes && data[start-1] == '\\' {
		start--
	}
	return start
}

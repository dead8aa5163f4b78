package entries

import (
	"bytes"
	"fmt"

	"github.com/sessctl/sessctl/internal/castagnoli"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Sum is the last field of a native line, `"crc":"<16 hex>"`. See docs/format.md,
// "Sums and batches".
type Sum struct {
	// Self is the CRC-32C of the line's bytes before `,"crc"`.
	Self uint32
	// Prev repeats Self of the line before. Where that line has no sum or a wrong
	// one it is the CRC-32C of the line's bytes; in the header it is zero.
	Prev uint32
}

const (
	sumStart   = `,"crc":"`
	sumDigits  = 16
	sumLength  = len(sumStart) + sumDigits + len(`"}`)
	batchStart = `,"more":true`
)

// Checksum is the CRC-32C that sums are made of.
func Checksum(b []byte) uint32 { return castagnoli.Checksum(b) }

// SplitSum takes apart a line that ends in a sum: body is what the sum covers.
func SplitSum(line []byte) (body []byte, sum Sum, ok bool) {
	n := len(line) - sumLength
	if n < 0 || string(line[n:n+len(sumStart)]) != sumStart || string(line[len(line)-2:]) != `"}` {
		return nil, Sum{}, false
	}
	sum, ok = ParseSum(line[n+len(sumStart) : len(line)-2])
	return line[:n], sum, ok
}

// ParseSum reads the value of a crc field, without its quotes. Its digits are
// lower case, so that no bit of a line can change unseen.
func ParseSum(value []byte) (Sum, bool) {
	if len(value) != sumDigits {
		return Sum{}, false
	}
	self, ok1 := hex32(value[:sumDigits/2])
	prev, ok2 := hex32(value[sumDigits/2:])
	if !ok1 || !ok2 {
		return Sum{}, false
	}
	return Sum{Self: self, Prev: prev}, true
}

// hex32 goes by a table: the digits are random, and a processor that guesses which
// are letters is wrong half of the time.
func hex32(digits []byte) (v uint32, ok bool) {
	var all uint8
	for _, c := range digits {
		d := hexValue[c]
		all |= d
		v = v<<4 | uint32(d)
	}
	return v, all < 16
}

// hexValue gives the value of a digit, and of any other byte more than 15.
var hexValue = func() (table [256]uint8) {
	for c := range table {
		table[c] = 0xff
	}
	for i, c := range "0123456789abcdef" {
		table[c] = uint8(i)
	}
	return table
}()

// Matches tells whether the sum's first half is that of body.
func (s Sum) Matches(body []byte) bool { return Checksum(body) == s.Self }

// HasMore tells whether body, which SplitSum returned, carries the mark of a batch
// that goes on in the next line.
func HasMore(body []byte) bool { return bytes.HasSuffix(body, []byte(batchStart)) }

// AppendSum appends the closing fields of a native line to dst, which holds the
// line's object without its closing brace: the batch mark where more is set, and
// the sum, with prev as its second half. start is where the line begins in dst.
func AppendSum(dst []byte, start int, more bool, prev uint32) ([]byte, Sum) {
	if more {
		dst = append(dst, batchStart...)
	}
	sum := Sum{Self: Checksum(dst[start:]), Prev: prev}
	dst = append(dst, sumStart...)
	dst = fmt.Appendf(dst, "%08x%08x", sum.Self, sum.Prev)
	return append(dst, `"}`...), sum
}

// Unsummed gives a native record without its closing brace, sum and batch mark,
// ready for AppendSum, and tells whether it had the mark. Everything else stays as
// it is: fields that merely have these names, too.
func Unsummed(raw []byte) (body []byte, more bool) {
	if head, _, ok := SplitSum(raw); ok {
		return bytes.CutSuffix(head, []byte(batchStart))
	}
	// Another program put fields behind the sum, or there is none.
	head, rest := cutSum(raw)
	head, more = bytes.CutSuffix(head, []byte(batchStart))
	return bytes.TrimSuffix(append(bytes.Clone(head), rest...), []byte("}")), more
}

// Unmarked gives body, which Unsummed returned, so that nothing at its end can be
// taken for the mark of a batch: a record of another program may have a field that
// looks like one.
func Unmarked(body []byte) []byte {
	if HasMore(body) {
		return append(bytes.Clone(body), ' ')
	}
	return body
}

// cutSum cuts the last top-level crc field that is a sum out of an object: what is
// before it, and what is behind. Without one all is behind.
func cutSum(raw []byte) (head, rest []byte) {
	const key = `,"crc":`
	from, to := 0, 0
	err := jsonvalue.Spans(raw, func(_ []byte, at, end int) {
		start := at - len(key)
		if start < 0 || string(raw[start:at]) != key || end-at < 2 {
			return
		}
		if _, ok := ParseSum(raw[at+1 : end-1]); ok {
			from, to = start, end
		}
	})
	if err != nil {
		return nil, raw
	}
	return raw[:from], raw[to:]
}

package sessgen

import (
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
)

const (
	codePoolSize  = 1536 << 10
	prosePoolSize = 512 << 10
	signaturePool = 64 << 10
)

// A textPool is a long JSON-escaped text whose lines may be copied from
// anywhere, since it is only ever cut between two lines.
type textPool struct {
	data   []byte
	starts []int // of each line, and the end of the last one
}

// The pools are the same for every seed: a seed decides what is cut from them.
var (
	codePool  = sync.OnceValue(func() *textPool { return newTextPool(codePoolSize, codeLine) })
	prosePool = sync.OnceValue(func() *textPool { return newTextPool(prosePoolSize, proseLine) })
	signPool  = sync.OnceValue(newSignatures)
)

func newTextPool(size int, line func(*rand.Rand) string) *textPool {
	r := rand.New(rand.NewPCG(1, uint64(size)))
	p := &textPool{data: make([]byte, 0, size+1024)}
	for len(p.data) < size {
		p.starts = append(p.starts, len(p.data))
		p.data = appendEscaped(p.data, line(r)+"\n")
	}
	p.starts = append(p.starts, len(p.data))
	return p
}

// take returns whole lines of about n bytes together, one line at least.
func (p *textPool) take(r *rand.Rand, n int) []byte {
	room := sort.SearchInts(p.starts, len(p.data)-n)
	first := r.IntN(max(1, min(room, len(p.starts)-1)))
	last := sort.SearchInts(p.starts, p.starts[first]+n+1) - 1
	last = max(last, first+1)
	return p.data[p.starts[first]:p.starts[last]]
}

func newSignatures() []byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	r := rand.New(rand.NewPCG(2, 2))
	data := make([]byte, signaturePool)
	for i := range data {
		data[i] = alphabet[r.IntN(len(alphabet))]
	}
	return data
}

// takeSignature returns n characters of base64.
func takeSignature(r *rand.Rand, n int) []byte {
	data := signPool()
	first := r.IntN(len(data) - n)
	return data[first : first+n]
}

var words = strings.Fields(`session branch entry parent leaf record header buffer offset scan index
	value result error state token path file line writer reader parse build check count limit
	cache queue event request answer config option module render update merge apply commit
	window filter sort group match table column cursor page span range größe naïve café данные 設定 żółw`)

func word(r *rand.Rand) string { return words[r.IntN(len(words))] }

// name joins words as identifiers are: currentEntryOffset.
func name(r *rand.Rand) string {
	w := word(r)
	for range r.IntN(3) {
		next := words[r.IntN(40)]
		w += strings.ToUpper(next[:1]) + next[1:]
	}
	return w
}

// codeShapes are lines of code and of tools' output; $ is a name.
var codeShapes = []string{
	"", "}", "});", "return $;",
	"if ($ !== null && $.$ > 0) {",
	"const $ = await $.$($, \"$\");",
	"for (const $ of $.$()) $.push($);",
	"// $ $ before the $ $, see $",
	"export function $($: string, $: number): $ {",
	"throw new Error(\"$ $: \" + $);",
	"if err := $.$($); err != nil {",
	"return fmt.Errorf(\"$ %q: %w\", $, err)",
	"\"$\": [\"$\", \"$\\n\", true],",
	"$ = $[$.$ - 1] ?? \"$\";",
	"func ($ *$) $($ []byte) (int, error) {",
	"- [x] $ $ ✅ <b>$</b> & \\$",
	"src/$/$.ts:$: $ = '$'",
}

func codeLine(r *rand.Rand) string {
	line := fill(r, codeShapes[r.IntN(len(codeShapes))])
	switch r.IntN(60) {
	case 0:
		line = "\x1b[32m" + line + "\x1b[0m"
	case 1:
		line += " // 🚀 " + word(r)
	case 2:
		line = "\t\t\t" + line + "\\"
	}
	return indent(r) + line
}

// fill puts a name in place of every $.
func fill(r *rand.Rand, shape string) string {
	parts := strings.Split(shape, "$")
	var line strings.Builder
	for i, part := range parts {
		line.WriteString(part)
		if i < len(parts)-1 {
			line.WriteString(name(r))
		}
	}
	return line.String()
}

func indent(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return strings.Repeat("\t", r.IntN(4))
	}
	return strings.Repeat("  ", r.IntN(5))
}

// proseLine is a line of a written answer or of thinking.
func proseLine(r *rand.Rand) string {
	var line strings.Builder
	line.WriteString([]string{"", "", "", "- ", "## ", "1. "}[r.IntN(6)])
	for line.Len() < 55 {
		line.WriteString(word(r))
		line.WriteString([]string{" ", " ", " ", ", ", ". ", " `", "` "}[r.IntN(7)])
	}
	return line.String() + []string{"the end.", "why?", "so \"it\" works.", "→ ok 🎉"}[r.IntN(4)]
}

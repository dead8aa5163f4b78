package command

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// The JSON shapes that several commands have in common. docs/cli.md lists every
// field; TestJSONFields holds them.

type jsonSession struct {
	ID      string            `json:"id"`
	Path    string            `json:"path"`
	Agent   sessiontree.Agent `json:"agent"`
	Cwd     string            `json:"cwd"`
	Name    *string           `json:"name"`
	Version int               `json:"version"`
}

type jsonDamage struct {
	Kind   sessiontree.DamageKind `json:"kind"`
	File   *string                `json:"file"`
	Line   int                    `json:"line"`
	Offset int64                  `json:"offset"`
	Length int64                  `json:"length"`
	Count  int                    `json:"count"`
	Detail string                 `json:"detail"`
	Note   bool                   `json:"note"`
}

func sessionJSON(t *sessiontree.Tree) (jsonSession, error) {
	name, err := t.Name()
	h := t.Header()
	return jsonSession{h.ID, t.File(), t.Agent(), h.Cwd, optional(name), h.Version}, err
}

func damageJSON(list []sessiontree.Damage) []jsonDamage {
	out := make([]jsonDamage, len(list))
	for i, d := range list {
		out[i] = jsonDamage{d.Kind, optional(d.File), d.Line, d.Offset, d.Length, d.Count, d.Detail, d.Note}
	}
	return out
}

// optional gives null for what is not there.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optionalID(id entries.ID) *entries.ID {
	if id == "" {
		return nil
	}
	return &id
}

// optionalTime gives RFC 3339 in UTC, or null.
func optionalTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return optional(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

func scanned(t *sessiontree.Tree) string {
	if t.Scanned() {
		return "whole"
	}
	return "tail"
}

// writeJSON writes a document, or with compact a line, without anything that a
// terminal would obey.
func writeJSON(w io.Writer, v any, compact bool) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if !compact {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(term.JSON(b.Bytes()))
	return err
}

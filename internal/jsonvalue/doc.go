// Package jsonvalue reads and writes JSON values as bytes: a value that is not
// looked at keeps them, whatever it holds (lone surrogates, big numbers, doubled
// keys, invalid UTF-8). What it writes looks as JavaScript's JSON.stringify does it.
//
// It knows JSON and nothing of sessions. Package syntax, below it, is what checks.
package jsonvalue

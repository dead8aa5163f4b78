// Command perf measures how fast and in how much memory sessions are read and
// written, contexts built, and the files of workspaces followed and restored:
//
//	go run ./internal/perf [-peers DIR] [-n RUNS] [-dir FOLDER] [-rows logs|files]
//	go run ./internal/perf -profile scan -format pi FILE
//
// It makes its sessions and folders once and keeps them. Each case runs in a process of its
// own, so that the peak of memory is its own, next to what it is compared with, so
// that both see the same machine; of several such rounds the shortest time and the
// smallest peak count. See docs/performance.md.
//
// A missed target is printed, and is no failure: only what goes wrong exits with 1.
package main

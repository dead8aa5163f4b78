// Package peers compares this reader with the programs whose logs it reads: pi
// 1.6.0, pi 0.73.1 and oh-my-pi 18.2.3. It holds tests only.
//
//	export SESSCTL_PEERS=$(internal/peers/install)  # or: install omp
//	go test ./internal/peers
//	OMP=1 go test ./internal/peers                  # pi 0.73.1 and oh-my-pi run too
//	RECORD=1 OMP=1 go test ./internal/peers         # and their answers are recorded anew
//
// Small drivers (driver.mjs, driver.omp.ts) open logs with the real programs and
// print what they make of them; write.mjs has them write. Of pi 0.73.1 and oh-my-pi
// the answers, and what oh-my-pi wrote, are recorded in testdata, since oh-my-pi
// takes 1.4 GB; SESSCTL_CORPUS names a folder of other people's logs, which the
// repository does not carry.
//
// Contexts (what a model is sent) are compared as JavaScript values, with pi on every
// branch of the corpus and on 500 generated logs, with oh-my-pi on its own logs, on
// generated ones, and, in its dialect, on the others.
//
// Where this reader means to differ, docs/interop.md (of contexts docs/context.md)
// says so and names the test.
package peers

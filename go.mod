module github.com/sessctl/sessctl

go 1.26.0

require (
	github.com/oklog/ulid/v2 v2.1.2
	golang.org/x/sys v0.50.0
)

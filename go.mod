module github.com/sessctl/sessctl

go 1.26.0

require (
	github.com/klauspost/compress v1.20.4
	github.com/oklog/ulid/v2 v2.1.2
	golang.org/x/sys v0.50.0
)

require github.com/git-pkgs/gitignore v1.1.0

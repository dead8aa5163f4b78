package checkpoint

import (
	"path"
	"slices"
	"strings"
)

// Why scans leave something out.
const (
	reasonIgnored    = "ignored by a .gitignore"
	reasonDependency = "installed or generated; it can be made again"
	reasonNested     = "a repository of its own"
	reasonUnreadable = "it cannot be read"
)

// dependencies are directories that tools fill, and can fill again.
var dependencies = []string{
	"node_modules", "bower_components", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
	".gradle", ".terraform", ".direnv",
}

// versionControl are directories of programs that keep versions themselves.
var versionControl = []string{".git", ".hg", ".svn", ".jj"}

// secretNames are patterns of files that may hold credentials, as path.Match takes them.
// They are compared in lower case.
var secretNames = []string{
	".env", ".env.*", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
	".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", "credentials.json", "service-account*.json", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*",
	"*.kdbx", ".htpasswd", "*.ppk", "token", "*.token", "tokens.json",
}

// samples are files that are named like secrets, and are there to be read.
var samples = []string{".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"}

// secretDirs are directories whose files are credentials.
var secretDirs = []string{".aws", ".ssh", ".gnupg", ".kube", ".docker", ".azure"}

// isSecret tells whether a path may hold secrets, by its names.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	base := path.Base(name)
	if slices.Contains(samples, base) {
		return false
	}
	matches := func(pattern string) bool {
		ok, _ := path.Match(pattern, base)
		return ok
	}
	return slices.ContainsFunc(secretNames, matches) || inSecretDir(path.Dir(name))
}

func inSecretDir(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(secretDirs, part) {
			return true
		}
	}
	return false
}

// leftOutDir tells why a scan does not go into a directory of this name; "" where it does.
// Of git's own nothing is said.
func leftOutDir(base string) (reason string, out bool) {
	base = strings.ToLower(base)
	switch {
	case slices.Contains(versionControl, base):
		return "", true
	case slices.Contains(dependencies, base):
		return reasonDependency, true
	case slices.Contains(secretDirs, base):
		return reasonSecret, true
	}
	return "", false
}

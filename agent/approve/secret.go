package approve

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Names that files of secrets have. A model that reads one may repeat it anywhere.
var (
	secretNames = []string{".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf", ".dockercfg", ".envrc",
		".vault-token", "credentials", "credentials.json", "credentials.toml", "auth.json", "terraform.tfvars", "wallet.dat", "master.key"}
	secretPatterns = []string{".env", ".env.*", "*.env", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks",
		"*.keystore", "*.kdbx", "*.ppk", "secret.*", "secrets.*", "service-account*.json", "service_account*.json", "*.tfstate"}
	secretFolders = []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"}
	sampleEndings = []string{".example", ".sample", ".template", ".tmpl", ".dist", ".pub"}
	codeEndings   = []string{".go", ".py", ".js", ".ts", ".tsx", ".jsx", ".rb", ".rs", ".java", ".c", ".h", ".cc", ".cpp", ".cs", ".php", ".md", ".html", ".css", ".sh", ".swift", ".kt"}
)

// looksSecret reports whether a path is one under which secrets are kept.
func looksSecret(file string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(file)), "/")
	name := parts[len(parts)-1]
	ending := path.Ext(name)
	if slices.Contains(sampleEndings, ending) {
		return false
	}
	if slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return slices.Contains(secretFolders, p) }) {
		return true
	}
	return !slices.Contains(codeEndings, ending) && secretName(name)
}

func secretName(name string) bool {
	if slices.Contains(secretNames, name) {
		return true
	}
	return slices.ContainsFunc(secretPatterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

package action

import (
	"fmt"
	"slices"
	"strings"
)

// kinds are globs of file names by the names that ripgrep has for them (rg --type-list), the common ones.
var kinds = map[string]string{
	"asm":      "*.{asm,s,S}",
	"awk":      "*.awk",
	"c":        "*.{c,h,H,cats}",
	"clojure":  "*.{clj,cljc,cljs,cljx}",
	"cmake":    "{*.cmake,CMakeLists.txt}",
	"config":   "*.{cfg,conf,config,ini}",
	"cpp":      "*.{C,cc,cpp,cxx,c++,h,H,hh,hpp,hxx,h++,inl}",
	"cs":       "*.cs",
	"css":      "*.{css,scss}",
	"csv":      "*.csv",
	"dart":     "*.dart",
	"docker":   "*Dockerfile*",
	"elixir":   "*.{ex,exs,eex,heex,leex,livemd}",
	"elm":      "*.elm",
	"erlang":   "*.{erl,hrl}",
	"fortran":  "*.{f,F,f77,F77,f90,F90,f95,F95,pfo}",
	"fsharp":   "*.{fs,fsx,fsi}",
	"go":       "*.go",
	"gradle":   "*.{gradle,gradle.kts}",
	"graphql":  "*.{graphql,graphqls}",
	"groovy":   "*.{groovy,gradle}",
	"h":        "*.{h,hh,hpp}",
	"haskell":  "*.{hs,lhs,cpphs,c2hs,hsc}",
	"html":     "*.{htm,html,ejs}",
	"ini":      "*.ini",
	"java":     "*.{java,jsp,jspx,properties}",
	"js":       "*.{js,jsx,vue,cjs,mjs}",
	"json":     "{*.json,composer.lock,*.sarif}",
	"jsonl":    "*.jsonl",
	"julia":    "*.jl",
	"jupyter":  "*.{ipynb,jpynb}",
	"kotlin":   "*.{kt,kts}",
	"less":     "*.less",
	"lisp":     "*.{el,jl,lisp,lsp,sc,scm}",
	"lock":     "{*.lock,package-lock.json}",
	"log":      "*.log",
	"lua":      "*.lua",
	"make":     "{[Gg][Nn][Uu]makefile,[Mm]akefile,[Mm]akefile.*,*.mk,*.mak}",
	"markdown": "*.{markdown,md,mdown,mdwn,mkd,mkdn,mdx}",
	"nix":      "*.nix",
	"objc":     "*.{h,m}",
	"ocaml":    "*.{ml,mli,mll,mly}",
	"perl":     "*.{perl,pl,PL,plh,plx,pm,t}",
	"php":      "*.{php,php3,php4,php5,php7,php8,pht,phtml}",
	"protobuf": "*.proto",
	"ps":       "*.{cdxml,ps1,ps1xml,psd1,psm1}",
	"py":       "*.{py,pyi}",
	"r":        "*.{R,r,Rmd,rmd,Rnw,rnw}",
	"rst":      "*.rst",
	"ruby":     "{*.rb,*.rbw,*.gemspec,Gemfile,Rakefile,config.ru,.irbrc}",
	"rust":     "*.rs",
	"sass":     "*.{sass,scss}",
	"scala":    "*.{scala,sbt}",
	"sh":       "{*.sh,*.bash,*.bats,*.csh,*.fish,*.ksh,*.tcsh,*.zsh,.bashrc,.bash_profile,.profile,.zshrc,.zprofile}",
	"solidity": "*.sol",
	"sql":      "*.{sql,psql}",
	"svelte":   "*.{svelte,svelte.ts}",
	"swift":    "*.swift",
	"tex":      "*.{tex,ltx,cls,sty,bib,dtx,ins}",
	"tf":       "*.{tf,tf.json,tfvars,tfvars.json}",
	"toml":     "{*.toml,Cargo.lock}",
	"ts":       "*.{ts,tsx,cts,mts}",
	"txt":      "*.txt",
	"vim":      "{*.vim,.vimrc,vimrc}",
	"vue":      "*.vue",
	"xml":      "{*.xml,*.xml.dist,*.dtd,*.xsl,*.xslt,*.xsd,*.xjb,*.rng,*.sch,*.xhtml}",
	"yaml":     "*.{yaml,yml}",
	"zig":      "*.zig",
}

// otherKinds are second names: those ripgrep has too, and those that people write.
var otherKinds = map[string]string{
	"bash": "sh", "csharp": "cs", "c++": "cpp", "cxx": "cpp", "dockerfile": "docker", "golang": "go", "hs": "haskell", "htm": "html", "hpp": "cpp",
	"javascript": "js", "jsx": "js", "kt": "kotlin", "latex": "tex", "makefile": "make", "md": "markdown", "mk": "make", "pl": "perl", "powershell": "ps",
	"proto": "protobuf", "pyi": "py", "python": "py", "rb": "ruby", "rs": "rust", "scss": "sass", "shell": "sh", "terraform": "tf", "text": "txt",
	"tsx": "ts", "typescript": "ts", "yml": "yaml", "zsh": "sh",
}

// KindError is a kind of files that has no name here.
type KindError struct {
	Kind  string
	Known []string // the names there are, sorted
}

func (e *KindError) Error() string {
	return fmt.Sprintf("the file type %q is unknown; use a glob such as \"*.%s\" instead, or one of: %s", e.Kind, strings.Trim(e.Kind, "*."), strings.Join(e.Known, ", "))
}

// kindGlob gives the glob of a kind.
func kindGlob(kind string) (string, error) {
	name := strings.ToLower(strings.TrimLeft(strings.TrimSpace(kind), "*."))
	if other, ok := otherKinds[name]; ok {
		name = other
	}
	if glob, ok := kinds[name]; ok {
		return glob, nil
	}
	e := &KindError{Kind: kind}
	for name := range kinds {
		e.Known = append(e.Known, name)
	}
	slices.Sort(e.Known)
	return "", e
}

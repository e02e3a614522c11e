package approve

import (
	"slices"
	"strings"
)

// spelling is how a program reads its options. What is not named is a switch.
type spelling struct {
	values string            // letters that take a value
	texts  string            // those of them whose value is no file
	bad    string            // letters that write, or start something
	long   map[string]taking // long options, abbreviations of which count
	strict bool              // long options beside those are not known
}

// taking is what a long option takes.
type taking int

const (
	nothing taking = iota
	text           // a value that is no file
	file           // a value that may be one
	harm           // it writes, starts something or reads a list of files
)

// given is one option as it was written.
type given struct {
	name  string // one letter, or a long name in full
	value word
	text  bool // the value is no file
}

// read takes arguments apart. why is what speaks against knowing what they do.
func (s spelling) read(args []word) (options []given, operands []word, why string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := func() word {
			if i+1 < len(args) {
				i++
				return args[i]
			}
			return word{}
		}
		switch {
		case a.text == "--":
			return options, append(operands, args[i+1:]...), ""
		case strings.HasPrefix(a.text, "--"):
			name, value, has := strings.Cut(a.text[2:], "=")
			full, takes, why := s.find(name)
			if why == "" && len(a.globs) > 0 && takes != text {
				why = "the option --" + full + " of it may be handed names of files"
			}
			if why != "" {
				return nil, nil, why
			}
			o := given{name: full, value: word{text: value}, text: takes == text}
			if (takes == text || takes == file) && !has {
				o.value = next()
			}
			options = append(options, o)
		case len(a.text) > 1 && a.text[0] == '-':
			letters := a.text[1:]
			for at, letter := range letters {
				if strings.ContainsRune(s.bad, letter) {
					return nil, nil, "the option -" + string(letter) + " of it is not known to only read"
				}
				o := given{name: string(letter)}
				if !strings.ContainsRune(s.values, letter) {
					options = append(options, o)
					continue
				}
				o.text = strings.ContainsRune(s.texts, letter)
				if o.value = (word{text: letters[at+len(string(letter)):]}); o.value.text == "" {
					o.value = next()
				}
				options = append(options, o)
				letters = letters[:at]
				break
			}
			if at := strings.IndexAny(letters, "/~"); at >= 0 || strings.Contains(letters, "..") {
				return nil, nil, "the option -" + letters + " of it is not known"
			}
		default:
			operands = append(operands, a)
		}
	}
	return options, operands, ""
}

// find completes the name of a long option.
func (s spelling) find(name string) (full string, takes taking, why string) {
	takes, exact := s.long[name]
	full = name
	if !exact {
		var fit []string
		for l := range s.long {
			if name != "" && strings.HasPrefix(l, name) {
				fit = append(fit, l)
			}
		}
		slices.Sort(fit)
		switch {
		case len(fit) == 1:
			full, takes = fit[0], s.long[fit[0]]
		case len(fit) > 1 || s.strict || name == "":
			return "", 0, "the option --" + name + " of it is not known"
		}
	}
	if takes == harm {
		return "", 0, "the option --" + full + " of it is not known to only read"
	}
	return full, takes, ""
}

// has reports whether one of the options was given.
func has(options []given, names ...string) bool {
	return slices.ContainsFunc(options, func(o given) bool { return slices.Contains(names, o.name) })
}

// option reports whether args hold one of the long options (abbreviated or with a value) or a short one (alone or
// in a cluster).
func option(args, long []string, short string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if name, ok := strings.CutPrefix(a, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			if slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(l, name) }) {
				return true
			}
		} else if len(a) > 1 && a[0] == '-' && strings.ContainsAny(a[1:], short) {
			return true
		}
	}
	return false
}

package rules

// Read gives the rules of some files and of no others, as a person's own. An error is an *Error that names file and line.
func Read(files []string) (*Set, error) {
	l := &loading{}
	for _, file := range files {
		if err := l.file(file, User); err != nil {
			return nil, err
		}
	}
	if err := l.examples(); err != nil {
		return nil, err
	}
	return &l.set, nil
}

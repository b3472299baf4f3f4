package config

import (
	"fmt"
	"io"
	"strings"

	"github.com/joho/godotenv"
)

// dotEnv is the content of a settings file.
type dotEnv struct {
	name   string            // name of the file, for messages
	values map[string]string // by key
	lines  map[string]int    // key to the line that last sets it, counting from 1
}

// at returns the position of a key's line, such as ".env:3".
func (d *dotEnv) at(key string) string { return fmt.Sprintf("%s:%d", d.name, d.lines[key]) }

// readDotEnv reads a settings file line by line, so that it can report every invalid line. Values cannot span multiple
// lines. A byte order mark and Windows line endings are accepted. Messages never quote a line, since it may contain a
// secret.
func readDotEnv(r io.Reader, name string) (d *dotEnv, problems Problems) {
	d = &dotEnv{name: name, values: map[string]string{}, lines: map[string]int{}}
	if r == nil {
		return d, nil
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return d, Problems{fmt.Errorf("%s: %w", name, err)}
	}
	text := strings.TrimPrefix(string(content), "\ufeff")
	var good []string
	for i, line := range strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") {
		key, wrong := lineKey(line)
		switch {
		case wrong != "":
			problems = append(problems, fmt.Errorf("%s:%d: %s", name, i+1, wrong))
		case key != "":
			d.lines[key] = i + 1
			good = append(good, line)
		}
	}
	// parsed together, since a value may use ${NAME} from an earlier line
	values, err := godotenv.Unmarshal(strings.Join(good, "\n"))
	if err != nil {
		return d, append(problems, fmt.Errorf("%s: the file does not have the form KEY=value", name))
	}
	d.values = values
	return d, problems
}

// lineKey returns the key that a line sets, or "" for a comment or a blank line. wrong describes what is wrong with
// the line, or is "" if the line is valid.
func lineKey(line string) (key, wrong string) {
	const form = `want KEY=value or KEY="value"`
	m, err := godotenv.Unmarshal(line)
	switch {
	case err != nil && openQuote(line):
		return "", "the value has no closing quote on its line"
	case err != nil, len(m) > 1:
		return "", form
	}
	for k := range m {
		if k == "" || strings.ContainsAny(k, " \t") {
			return "", form
		}
		key = k
	}
	return key, ""
}

// openQuote reports whether a line's value starts with a quote that is not closed on the same line.
func openQuote(line string) bool {
	_, value, _ := strings.Cut(line, "=")
	value = strings.TrimSpace(value)
	return value != "" && strings.ContainsRune(`"'`, rune(value[0])) && strings.Count(value, value[:1]) == 1
}

package evalrun

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
)

// maxName is the maximum length in bytes of an ID in a file name.
const maxName = 80

// hashed matches a name with a hash. An ID of this form also gets a hash.
var hashed = regexp.MustCompile(`(^|-)[0-9a-f]{16}$`)

// FileName returns the file name, without extension, for the item with the given ID. An ID of lowercase letters,
// digits, dashes, dots, and underscores that starts with a letter or digit is used unchanged. In all other IDs, other
// characters become dashes and 16 hex digits of a hash are appended, so that no two IDs share a name, even on a
// case-insensitive file system: "../x" becomes "x-…". The name never refers to a directory, a hidden file, or a device.
func FileName(id string) string {
	var b strings.Builder
	same := id != "" && len(id) <= maxName
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			same = false
			b.WriteRune(r + 'a' - 'A')
		default:
			same = false
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-._")
	if same && name == id && !device(name) && !hashed.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	name = strings.Trim(name[:min(len(name), maxName)], "-._")
	return strings.TrimPrefix(strings.ReplaceAll(name, ".", "-")+"-"+hex.EncodeToString(sum[:8]), "-")
}

// device reports whether Windows treats the name, with or without an extension, as a device.
func device(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt"))
}

// Unique makes the items' IDs distinct by appending "#2" to the ID of the second item with the same ID, and so on.
// renamed lists the new IDs.
func Unique(items []dataset.Item) (out []dataset.Item, renamed []string) {
	used := make(map[string]bool, len(items))
	for _, it := range items {
		used[it.ID] = true
	}
	seen := map[string]bool{}
	for _, it := range items {
		if seen[it.ID] {
			base := it.ID
			for n := 2; used[it.ID]; n++ {
				it.ID = fmt.Sprintf("%s#%d", base, n)
			}
			used[it.ID] = true
			renamed = append(renamed, it.ID)
		}
		seen[it.ID] = true
		out = append(out, it)
	}
	return out, renamed
}

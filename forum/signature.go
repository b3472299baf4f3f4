package forum

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxSignature is the maximum distance between an author's link and the timestamp, in displayed characters
// (DiscussionTools, CommentParser.php, SIGNATURE_SCAN_LIMIT).
const maxSignature = 100

// stamp is a timestamp in a string.
type stamp struct {
	start, end int
	time       time.Time
}

// nextStamp finds the first timestamp in s at or after i. A timestamp is either in MediaWiki's English format, such as
// "14:20, 5 June 2019 (UTC)", possibly with directional marks between its parts, or in another language's format before
// a time zone in parentheses. Impossible dates are ignored.
func nextStamp(s string, i int) (stamp, bool) {
	for i < len(s) {
		k := strings.IndexByte(s[i:], '(')
		if k < 0 {
			return stamp{}, false
		}
		open := i + k
		end := open + 1
		for end < len(s) && end-open < 7 && s[end] >= 'A' && s[end] <= 'Z' {
			end++
		}
		i = open + 1
		if end-open < 4 || end >= len(s) || s[end] != ')' {
			continue
		}
		zone := s[open+1 : end]
		end++
		start, t, ok := stampBefore(s, open, zone)
		if !ok || quoted(s, start, end) {
			continue
		}
		return stamp{start, end, t}, true
	}
	return stamp{}, false
}

// quoted reports whether a timestamp is quoted or is a parameter value. As in Convenient Discussions, this is the case
// if it follows an equals sign or precedes a quotation mark.
func quoted(s string, start, end int) bool {
	if start > 0 && s[start-1] == '=' {
		return true
	}
	for _, q := range []string{`"`, "”", "»", "“"} {
		if strings.HasPrefix(s[end:], q) {
			return true
		}
	}
	return false
}

type back struct {
	s string
	i int
}

func (b *back) marks() {
	for strings.HasSuffix(b.s[:b.i], "\u200e") || strings.HasSuffix(b.s[:b.i], "\u200f") {
		b.i -= 3
	}
}

func (b *back) byte(c byte) bool {
	b.marks()
	if b.i == 0 || b.s[b.i-1] != c {
		return false
	}
	b.i--
	return true
}

func (b *back) digits(least, most int) (n int, ok bool) {
	b.marks()
	j := b.i
	for j > 0 && b.i-j < most && b.s[j-1] >= '0' && b.s[j-1] <= '9' {
		j--
	}
	if b.i-j < least {
		return 0, false
	}
	for _, c := range b.s[j:b.i] {
		n = n*10 + int(c-'0')
	}
	b.i = j
	return n, true
}

func (b *back) word() string {
	b.marks()
	j := b.i
	for j > 0 {
		r, n := utf8.DecodeLastRuneInString(b.s[:j])
		if !unicode.IsLetter(r) || b.i-j > 30 {
			break
		}
		j -= n
	}
	w := b.s[j:b.i]
	b.i = j
	return w
}

// stampBefore parses the date that ends right before the time zone's opening parenthesis.
func stampBefore(s string, open int, zone string) (start int, t time.Time, ok bool) {
	if zone == "UTC" {
		if start, t, ok := englishBefore(s, open); ok {
			return start, t, true
		}
	}
	return foreignBefore(s, open, zone)
}

// englishBefore parses "H:i, j F Y " backward from the end of the string.
func englishBefore(s string, open int) (start int, t time.Time, ok bool) {
	b := &back{s, open}
	if !b.byte(' ') {
		return 0, t, false
	}
	year, ok1 := b.digits(4, 4)
	if !ok1 || !b.byte(' ') {
		return 0, t, false
	}
	month := englishMonths[b.word()]
	if month == 0 || !b.byte(' ') {
		return 0, t, false
	}
	day, ok2 := b.digits(1, 2)
	if !ok2 || !b.byte(' ') || !b.byte(',') {
		return 0, t, false
	}
	minute, ok3 := b.digits(2, 2)
	if !ok3 || !b.byte(':') {
		return 0, t, false
	}
	hour, ok4 := b.digits(2, 2)
	if !ok4 {
		return 0, t, false
	}
	t, ok = date(year, month, day, hour, minute, 0)
	return b.i, t, ok
}

// date returns the time with the given parts, and whether the date exists. offset is the time zone's offset, in minutes
// east of UTC.
func date(year, month, day, hour, minute, offset int) (time.Time, bool) {
	t := time.Date(year, time.Month(month), day, hour, minute, 0, 0, time.UTC)
	if year < 1990 || int(t.Month()) != month || t.Day() != day || hour > 23 || minute > 59 {
		return time.Time{}, false
	}
	return t.Add(-time.Duration(offset) * time.Minute), true
}

// token is part of the text before a timestamp: a link, a transclusion, or text including its tags.
type token struct {
	start, end int
	kind       byte // '[', '{' or 't'
}

// signer returns the author of the timestamp that follows s: the user in the nearest link to a user, user talk or
// contributions page within the maximum distance. sig is the offset of the signature, which starts with the farthest
// link to the same user within that distance.
func (n *names) signer(s string) (user string, sig int, ok bool) {
	if len(s) > 1500 {
		cut := len(s) - 1500
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		user, sig, ok = n.signer(s[cut:])
		return user, sig + cut, ok
	}
	trimmed := strings.TrimRight(s, " \t\n")
	tokens := n.tokens(trimmed)
	reach := 0
	for i := len(tokens) - 1; i >= 0 && reach <= maxSignature; i-- {
		t := tokens[i]
		who, shown := n.tokenOf(trimmed[t.start:t.end], t.kind)
		switch {
		case who != "" && user == "":
			user, sig, ok = who, t.start, true
		case who != "" && who == user:
			sig = t.start
		case who != "":
			return user, sig, ok
		}
		reach += shown
	}
	return user, sig, ok
}

// tokenOf returns the user that a token refers to, and the token's length in displayed characters. Tags and templates
// have length 0.
func (n *names) tokenOf(s string, kind byte) (user string, shown int) {
	switch kind {
	case '[':
		target, label := splitLink(s[2 : len(s)-2])
		user, _ = n.userOf(target)
		return user, shownLength(label)
	case '{':
		name, _, _ := strings.Cut(s[2:len(s)-2], "|")
		if root, _, sub := strings.Cut(name, "/"); sub {
			user, _ = n.userOf(root)
		}
		return user, 0
	}
	for i := 0; i < len(s); {
		switch {
		case s[i] == '<':
			if k := tagLength(s[i:]); k > 0 {
				i += k
				continue
			}
			shown++
			i++
		case strings.HasPrefix(s[i:], "[["): // never closed
			shown += 2
			i += 2
		case strings.HasPrefix(s[i:], "{{"): // never closed, either
			i += 2
		default:
			for shown, i = shown+1, i+1; i < len(s) && !opens[s[i]]; i++ {
				if utf8.RuneStart(s[i]) {
					shown++
				}
			}
		}
	}
	return "", shown
}

// opens marks the bytes that start links, transclusions and tags.
var opens = [256]bool{'[': true, '{': true, '<': true}

// tokens splits wikitext into links, transclusions and text. Text before the first link, transclusion or tag is
// omitted, since it does not refer to a user.
func (n *names) tokens(s string) []token {
	out := n.tokenized[:0]
	defer func() { n.tokenized = out }()
	i := 0
	for i < len(s) && !opens[s[i]] {
		i++
	}
	from := i
	add := func(end int, kind byte) {
		if i > from {
			out = append(out, token{from, i, 't'})
		}
		if end > i {
			out = append(out, token{i, end, kind})
		}
		i, from = end, end
	}
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "[["):
			if end := linkEnd(s, i); end > 0 {
				add(end, '[')
				continue
			}
			i += 2
		case strings.HasPrefix(s[i:], "{{"):
			if k := strings.Index(s[i:], "}}"); k >= 0 {
				add(i+k+2, '{')
				continue
			}
			i += 2
		case s[i] == '<':
			i += max(1, tagLength(s[i:]))
		default:
			for i++; i < len(s) && !opens[s[i]]; i++ {
			}
		}
	}
	add(len(s), 't')
	return out
}

// tagLength returns the length of the tag or comment at the start of s, or 0 if its "<" does not start one.
func tagLength(s string) int {
	if len(s) < 3 || s[1] != '!' && s[1] != '/' && !(s[1]|0x20 >= 'a' && s[1]|0x20 <= 'z') {
		return 0
	}
	return strings.IndexByte(s, '>') + 1
}

// linkEnd returns the offset after the "]]" of the link that opens at i, skipping nested links, or -1 if there is none.
func linkEnd[T string | []byte](s T, i int) int {
	depth := 0
	for j := i; j+1 < len(s) && j < i+2000; {
		switch {
		case s[j] == '[' && s[j+1] == '[':
			depth++
			j += 2
		case s[j] == ']' && s[j+1] == ']':
			depth--
			j += 2
			if depth == 0 {
				return j
			}
		default:
			j++
		}
	}
	return -1
}

func splitLink(s string) (target, label string) {
	target, label, ok := strings.Cut(s, "|")
	switch {
	case !ok:
		label = strings.TrimPrefix(target, ":")
	case label == "": // the pipe trick, if saving did not resolve it: [[User:X (y)|]] shows "X"
		label = target[strings.IndexByte(target, ':')+1:]
		if k := strings.LastIndex(label, " ("); k > 0 && label[len(label)-1] == ')' {
			label = label[:k]
		}
	}
	return target, label
}

// shownLength returns the number of displayed characters in a link's label.
func shownLength(s string) int {
	if strings.IndexByte(s, '<') < 0 {
		return utf8.RuneCountInString(s)
	}
	n := 0
	for i := 0; i < len(s); {
		if s[i] == '<' {
			if k := tagLength(s[i:]); k > 0 {
				i += k
				continue
			}
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
		n++
	}
	return n
}

// userOf returns the user that a link target refers to: User:X, User talk:X, Special:Contributions/X, with or without
// an interwiki prefix. A subpage does not refer to a user. page reports whether the target is the user page itself or
// its talk page.
func (n *names) userOf(target string) (user string, page bool) {
	u, ok := n.users[target]
	if !ok {
		u.user, u.page = n.readUser(target)
		n.users[target] = u
	}
	return u.user, u.page
}

func (n *names) readUser(target string) (user string, page bool) {
	target = strings.TrimSpace(strings.ReplaceAll(target, "_", " "))
	target = strings.TrimPrefix(target, ":")
	target, _, _ = strings.Cut(target, "#")
	if strings.ContainsRune(target, '%') {
		if t, err := url.PathUnescape(target); err == nil && utf8.ValidString(t) {
			target = strings.ReplaceAll(t, "_", " ")
		}
	}
	if strings.ContainsRune(target, '&') {
		target = decodeEntities(target)
	}
	for range 3 {
		ns, rest, ok := strings.Cut(target, ":")
		if !ok {
			return "", false
		}
		ns = strings.TrimSpace(ns)
		if n.is(ns, userNamespace) {
			if strings.ContainsRune(rest, '/') {
				return "", false
			}
			return UserName(rest), true
		}
		if special, name, sub := strings.Cut(target, "/"); sub && n.is(special, contributionsPage) {
			return UserName(name), false
		}
		if len(ns) > 12 || strings.ContainsRune(ns, ' ') {
			return "", false
		}
		target = strings.TrimSpace(rest) // an interwiki prefix: [[:en:User:X]]
	}
	return "", false
}

// userName is like [UserName], for a name in a template argument, but caches its results.
func (n *names) userName(s string) string {
	u, ok := n.shown[s]
	if !ok {
		u = UserName(s)
		n.shown[s] = u
	}
	return u
}

// UserName normalizes a user name as MediaWiki does: underscores become spaces, and the first letter and IPv6 addresses
// become uppercase.
func UserName(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "_", " ")), " ")
	s = strings.Map(func(r rune) rune {
		if r == '\u200e' || r == '\u200f' || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	if s == "" || strings.ContainsAny(s, "[]{}|<>\n") {
		return ""
	}
	if strings.ContainsAny(s, ".:") {
		if a, err := netip.ParseAddr(s); err == nil {
			if a.Is6() {
				return strings.ToUpper(s)
			}
			return s
		}
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

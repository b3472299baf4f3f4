package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

const commit = "2cc30a5d893ed0d7760a90efcb5dcee254ad4151"

func TestParseVersion(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{commit + " 2026-11-22T09:10:33+01:00 HEAD -> main, tag: v1.2.0, origin/main", "v1.2.0"},
		{commit + " 2026-11-22T09:10:33+01:00 v1.2.0\n", "v1.2.0"},
		{commit + " 2026-11-22T09:10:33+01:00 HEAD -> version, vault\n", "unreleased-2cc30a5d893e"},
		{commit + " 2026-11-22T09:10:33+01:00", "unreleased-2cc30a5d893e"},
	} {
		v, err := parseVersion(c.in)
		if err != nil || v.String() != c.want || v.commit != commit ||
			!v.date.Equal(time.Date(2026, 11, 22, 8, 10, 33, 0, time.UTC)) {
			t.Errorf("%q: %v of %v, %v; want %s", c.in, v, v.date, err, c.want)
		}
	}
	for _, in := range []string{"$Format:%H %cI %D$\n", "", "v1.2.0", commit + " yesterday", "2cc30a5 2026-11-22T09:10:33Z"} {
		if v, err := parseVersion(in); err == nil {
			t.Errorf("%q is parsed as %v", in, v)
		}
	}
}

func TestNotes(t *testing.T) {
	const log = "# Changelog\n\n## Unreleased\n\n- new\n\n## v1.2.0 (2026-11-22)\n\n### Fixed\n- a thing\n\n## v1.2.0-rc1\n\n- trial\n"
	for _, c := range []struct{ tag, want string }{
		{"", "- new"}, {"v1.2.0", "### Fixed\n- a thing"}, {"v1.2.0-rc1", "- trial"},
	} {
		if got, err := notesOf(log, c.tag); err != nil || got != c.want {
			t.Errorf("%q: %q, %v, want %q", c.tag, got, err, c.want)
		}
	}
	if got, err := notesOf(log, "v1.2"); err == nil {
		t.Errorf("a version without a section has the notes %q", got)
	}
	if got, err := notesOf("## Unreleased\n\n## v1.0.0\n\n- old\n", ""); err == nil {
		t.Errorf("an empty section has the notes %q", got)
	}
}

// TestBill parses the bill as plain JSON. The module's hash equals the hash from go.sum, in hexadecimal.
func TestBill(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/spinachbot/spinachbot"},
		Deps: []*debug.Module{
			{Path: "github.com/google/uuid", Version: "v1.6.0", Sum: "h1:NIvaJDMOsjHA8n1jAhLSgzrAzy1Hgr+hNrb57e+94F0="},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v1.1.0"}},
		}}
	v := version{tag: "v1.2.0", commit: commit, date: time.Date(2026, 11, 22, 8, 10, 33, 0, time.UTC)}
	data, err := json.Marshal(bill(info, [32]byte{1, 2, 3}, v))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		SerialNumber string
		Metadata     struct {
			Timestamp string
			Component struct{ Version, Purl string }
		}
		Components []struct {
			Name, Version, Purl string
			Hashes              []struct{ Alg, Content string }
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.SerialNumber != "urn:uuid:01020300-0000-8000-8000-000000000000" {
		t.Errorf("serial number %s", got.SerialNumber)
	}
	if got.Metadata.Timestamp != "2026-11-22T08:10:33Z" || got.Metadata.Component.Version != "v1.2.0" ||
		got.Metadata.Component.Purl != "pkg:golang/github.com/spinachbot/spinachbot@v1.2.0" {
		t.Errorf("metadata %+v", got.Metadata)
	}
	var purls []string
	for _, c := range got.Components {
		purls = append(purls, c.Purl)
	}
	if want := "pkg:golang/std@1.26.8 pkg:golang/github.com/google/uuid@v1.6.0 pkg:golang/example.org/new@v1.1.0"; strings.Join(purls, " ") != want {
		t.Errorf("components %v, want %s", purls, want)
	}
	const sum = "348bda24330eb231c0f27d630212d2833ac0cf2d4782bfa136b6f9edefbde05d" // base64 -d | xxd -p
	if h := got.Components[1].Hashes; len(h) != 1 || h[0].Alg != "SHA-256" || h[0].Content != sum {
		t.Errorf("hashes %v, want SHA-256 %s", h, sum)
	}
}

// TestPack unpacks the archives with standard tools, as users would.
func TestPack(t *testing.T) {
	src, out := t.TempDir(), t.TempDir()
	for _, f := range packed {
		write(t, filepath.Join(src, f), "text of "+f)
	}
	bin := filepath.Join(src, "bin")
	write(t, bin, "program")
	v := version{tag: "v1.2.0", commit: commit, date: time.Date(2026, 11, 22, 8, 10, 34, 0, time.UTC)}
	for target, ending := range map[string]string{"linux/arm64": ".tar.gz", "windows/amd64": ".zip"} {
		name := v.file(target)
		path := filepath.Join(out, name+ending)
		var first []byte
		for range 2 {
			if err := pack(src, bin, out, name, target, v); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if first != nil && !bytes.Equal(first, data) {
				t.Errorf("%s differs when packed again", path)
			}
			first = data
		}
		dir := t.TempDir()
		c, exe := exec.Command("tar", "-xzf", path, "-C", dir), "spinachbot"
		if ending == ".zip" {
			c, exe = exec.Command("python3", "-m", "zipfile", "-e", path, dir), "spinachbot.exe"
		}
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for f, want := range map[string]string{exe: "program", "NOTICE": "text of NOTICE", ".env.example": "text of .env.example"} {
			if data, err := os.ReadFile(filepath.Join(dir, name, f)); err != nil || string(data) != want {
				t.Errorf("%s: %q, %v", f, data, err)
			}
		}
		if ending == ".zip" {
			continue
		}
		if i, err := os.Stat(filepath.Join(dir, name, exe)); err != nil || i.Mode().Perm() != 0o755 || !i.ModTime().Equal(v.date) {
			t.Errorf("the program is unpacked as %v, %v", i, err)
		}
	}
}

// TestSign signs with a new key, and verifies the signature as the notes describe. A modified file is detected.
func TestSign(t *testing.T) {
	dir, keys := t.TempDir(), t.TempDir()
	key := filepath.Join(keys, "key")
	if text, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	write(t, filepath.Join(dir, "a"), "hello")
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  a\n" // sha256sum
	if got, _ := os.ReadFile(filepath.Join(dir, sums)); string(got) != hello {
		t.Errorf("checksums %q", got)
	}
	if err := sign(dir, key); err != nil {
		t.Fatal(err)
	}
	verify := func(text string) error {
		c := exec.Command("ssh-keygen", "-Y", "verify", "-n", namespace, "-I", signer, "-f", "allowed_signers", "-s", sums+".sig")
		c.Dir, c.Stdin = dir, strings.NewReader(text)
		return c.Run()
	}
	if err := verify(hello); err != nil {
		t.Error("the signature does not verify:", err)
	}
	if verify(strings.Replace(hello, "2cf2", "2cf3", 1)) == nil {
		t.Error("changed checksums verify")
	}
	if sign(dir, filepath.Join(dir, "a")) == nil {
		t.Error("a text is accepted as a key")
	}
}

func TestNoKey(t *testing.T) {
	o := options{signed: true, targets: []string{"linux/amd64"}}
	if o.check() == nil {
		t.Error("a signature is mentioned without a key")
	}
	o = options{key: filepath.Join(t.TempDir(), "none"), targets: o.targets}
	if o.check() == nil {
		t.Error("a missing key is accepted")
	}
	if (options{targets: []string{"plan9/amd64"}}).check() == nil {
		t.Error("a platform that is not released is accepted")
	}
	src := t.TempDir()
	write(t, filepath.Join(src, "CHANGELOG.md"), "## Unreleased\n\n- new\n")
	o = options{out: src}
	if err := writeNotes(src, o, version{commit: commit}); err != nil {
		t.Fatal(err)
	}
	notes, err := os.ReadFile(filepath.Join(src, "NOTES.txt"))
	if err != nil || !strings.Contains(string(notes), "not signed") || strings.Contains(string(notes), "verify") {
		t.Errorf("the notes of a release without a key: %s, %v", notes, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

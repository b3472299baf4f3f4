// Release builds a release: for each platform, an archive with the program, its license and the licenses of its
// dependencies, and a bill of materials; also the notes, the checksums and, with a key, the signature of the checksums.
//
// Usage, in this folder or through `make release`:
//
//	go run . [-out dist] [-targets linux/amd64,...] [-key KEY] [-once]
//
// The sources come from the last commit, or from the folder if it is an archive created by `git archive`. Everything is
// built twice, in folders with different names and with empty build caches, and the outputs are compared byte by byte.
// Anyone with the same version of Go gets the same bytes from the same commit.
//
// It is a separate module so that its dependencies do not become dependencies of the program.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	o := options{}
	flag.StringVar(&o.sources, "sources", "../..", "`folder` of the sources")
	flag.StringVar(&o.out, "out", "", "`folder` for the release, which must not exist yet (default: dist in the sources)")
	targets := flag.String("targets", platforms, "comma-separated `platforms`, each system/architecture")
	flag.StringVar(&o.key, "key", os.Getenv("RELEASE_KEY"),
		"`file` of an SSH key that signs the checksums (default: RELEASE_KEY in the environment)")
	flag.BoolVar(&o.signed, "signed", false, "fail if there is no key")
	flag.BoolVar(&o.once, "once", false, "build once, with the usual cache: faster, but without the check that a second build is the same")
	flag.Parse()
	o.targets = strings.Split(*targets, ",")
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	if err := release(o); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "release:", err)
	os.Exit(1)
}

type options struct {
	sources, out, key string
	targets           []string
	signed, once      bool
}

func (o options) check() error {
	for _, t := range o.targets {
		if !slices.Contains(strings.Split(platforms, ","), t) {
			return fmt.Errorf("unknown platform %q: want any of %s", t, platforms)
		}
	}
	if o.signed && o.key == "" {
		return errors.New("-signed requires a key: set RELEASE_KEY to the file of an SSH key")
	}
	if o.key != "" {
		if _, err := os.Stat(o.key); err != nil {
			return fmt.Errorf("the signing key: %w", err)
		}
	}
	return nil
}

// release builds the whole release. If any part fails, nothing is left behind.
func release(o options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	if o.out == "" {
		o.out = filepath.Join(o.sources, "dist")
	}
	if err := os.Mkdir(o.out, 0o755); err != nil {
		return fmt.Errorf("%w: remove the old release first, or specify a different folder with -out", err)
	}
	tmp, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(tmp))
		if err != nil {
			err = errors.Join(err, os.RemoveAll(o.out))
		}
	}()
	v, err := versionOf(o.sources)
	if err != nil {
		return err
	}
	fmt.Println("version", v)
	dirs := []string{filepath.Join(tmp, "one"), filepath.Join(tmp, "a-second-folder-elsewhere")}
	if o.once {
		dirs = dirs[:1]
	}
	for _, d := range dirs {
		if err := export(o.sources, filepath.Join(d, "src"), v); err != nil {
			return err
		}
	}
	for _, t := range o.targets {
		if err := buildTarget(o, v, dirs, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := writeNotes(filepath.Join(dirs[0], "src"), o, v); err != nil {
		return err
	}
	if err := writeSums(o.out); err != nil {
		return err
	}
	if o.key == "" {
		fmt.Println("not signed: no key is set (RELEASE_KEY)")
		return nil
	}
	return sign(o.out, o.key)
}

// buildTarget builds the program for one platform in each of the folders and packs it.
func buildTarget(o options, v version, dirs []string, target string) error {
	var first string
	for i, d := range dirs {
		cache := ""
		if len(dirs) > 1 {
			cache = filepath.Join(d, "cache") // not shared, or the second build would reuse results
		}
		bin, err := compile(d, cache, v, target)
		if err != nil {
			return err
		}
		if i == 0 {
			first = bin
			continue
		}
		if err := same(first, bin); err != nil {
			return err
		}
	}
	name := v.file(target)
	if err := pack(filepath.Join(dirs[0], "src"), first, o.out, name, target, v); err != nil {
		return err
	}
	if err := writeBill(first, filepath.Join(o.out, name+".cdx.json"), v); err != nil {
		return err
	}
	how := "built once, not compared"
	if len(dirs) > 1 {
		how = "built twice, the same bytes"
	}
	fmt.Printf("%s: %s\n", target, how)
	return nil
}

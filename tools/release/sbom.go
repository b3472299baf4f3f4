package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the bill of materials of a built program as CycloneDX JSON: the modules that the linker recorded in
// the file, rather than the modules in go.mod.
func writeBill(bin, path string, v version) error {
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill(info, sha256.Sum256(data), v),
		cdx.SpecVersion1_6); err != nil {
		return err
	}
	return f.Close()
}

// bill lists the modules in a program whose file has the given hash. The same file always produces the same bill.
func bill(info *debug.BuildInfo, hash [32]byte, v version) *cdx.BOM {
	b := cdx.NewBOM()
	b.SerialNumber = serial(hash)
	main := cdx.Component{Type: cdx.ComponentTypeApplication, Name: "spinachbot", Version: v.String(),
		BOMRef: "pkg:golang/" + info.Main.Path + "@" + v.String(), PackageURL: "pkg:golang/" + info.Main.Path + "@" + v.String(),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash[:])}}}
	var properties []cdx.Property
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" {
			properties = append(properties, cdx.Property{Name: "go:" + s.Key, Value: s.Value})
		}
	}
	main.Properties = &properties
	b.Metadata = &cdx.Metadata{Timestamp: v.date.Format(time.RFC3339), Component: &main}
	std := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	std.BOMRef = std.PackageURL
	components := []cdx.Component{std}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: "pkg:golang/" + m.Path + "@" + m.Version}
		c.BOMRef = c.PackageURL
		if h, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
			if raw, err := base64.StdEncoding.DecodeString(h); err == nil {
				// The checksum in go.sum is the hash of the module's list of files with their hashes.
				c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
			}
		}
		components = append(components, c)
	}
	b.Components = &components
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.BOMRef
	}
	b.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return b
}

// serial derives the bill's serial number from the file's hash, as a version 8 UUID (RFC 9562).
func serial(hash [32]byte) string {
	u := hash[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

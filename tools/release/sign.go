package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sums is the file that is signed.
const sums = "SHA256SUMS"

// signer and namespace identify the signer and the purpose of the signature; see ALLOWED SIGNERS in ssh-keygen(1).
const signer, namespace = "spinachbot", "spinachbot-release"

// sign signs the checksums with an SSH key and verifies the signature with the public key, as a user would. It creates
// SHA256SUMS.sig and allowed_signers in the folder.
func sign(dir, key string) error {
	public, err := exec.Command("ssh-keygen", "-y", "-f", key).Output()
	if err != nil {
		if public, err = os.ReadFile(key + ".pub"); err != nil { // the key is in an agent or has a passphrase
			return fmt.Errorf("reading the public part of the signing key: %w", err)
		}
	}
	words := strings.Fields(string(public))
	if len(words) < 2 {
		return fmt.Errorf("%s: not an SSH key", key)
	}
	allowed := fmt.Sprintf("%s namespaces=%q %s %s\n", signer, namespace, words[0], words[1])
	path := filepath.Join(dir, sums)
	if err := os.WriteFile(filepath.Join(dir, "allowed_signers"), []byte(allowed), 0o644); err != nil {
		return err
	}
	if out, err := exec.Command("ssh-keygen", "-Y", "sign", "-n", namespace, "-f", key, path).CombinedOutput(); err != nil {
		return fmt.Errorf("signing: %w: %s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	check := exec.Command("ssh-keygen", "-Y", "verify", "-n", namespace, "-I", signer,
		"-f", filepath.Join(dir, "allowed_signers"), "-s", path+".sig")
	check.Stdin = bytes.NewReader(data)
	out, err := check.CombinedOutput()
	if err != nil {
		return fmt.Errorf("verifying the signature: %w: %s", err, out)
	}
	fmt.Print(string(out))
	return nil
}

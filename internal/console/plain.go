package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Plain returns an error's message for users. Errors from the operating system and from Go's JSON decoder are replaced
// with a sentence that explains what to do.
func Plain(err error) string {
	said := err.Error()
	var path *fs.PathError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &path) {
		said = strings.ReplaceAll(said, path.Error(), pathProblem(path))
	}
	if errors.As(err, &syntax) {
		said = strings.ReplaceAll(said, syntax.Error(), text.JSON(syntax).Error())
	}
	if errors.As(err, &kind) {
		said = strings.ReplaceAll(said, kind.Error(), text.JSON(kind).Error())
	}
	return said
}

// pathProblem describes what is wrong with a file or folder.
func pathProblem(err *fs.PathError) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("there is no file or folder %s; check the name", err.Path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("no permission for %s; check its owner and mode", err.Path)
	case errors.Is(err, fs.ErrExist):
		return fmt.Sprintf("%s already exists; choose another name", err.Path)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Sprintf("%s is a folder; name a file", err.Path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("%s is a file, or is inside one, where a folder is needed; choose another place", err.Path)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("the disk is full: %s cannot be written; free some space and try again", err.Path)
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("%s is on a disk that cannot be written; choose another place", err.Path)
	}
	return err.Error()
}

// CheckAddress returns an error that includes the example if addr, the value of --addr, is not in the form HOST:PORT.
func CheckAddress(addr, example string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("--addr %s is not an address: want HOST:PORT, such as %s", addr, example)
	}
	return nil
}

// ListenProblem explains why a server cannot be started at an address.
func ListenProblem(addr string, err error) error {
	var call *os.SyscallError
	var place *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot listen on %s: the address is already in use; choose a different one with --addr, such as 127.0.0.1:0 for a free port", addr)
	case errors.As(err, &place):
		return fmt.Errorf("cannot listen on %s: %s; write --addr as HOST:PORT, such as 127.0.0.1:8484", addr, place.Err)
	case errors.As(err, &call):
		return fmt.Errorf("cannot listen on %s: %w; choose a different address with --addr", addr, call.Err)
	}
	return fmt.Errorf("cannot listen on %s: %w; choose a different address with --addr", addr, err)
}

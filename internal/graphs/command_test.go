package graphs

import (
	"os"
	"strings"
	"testing"
)

// TestReadFileWithoutEnd checks that an endless device file is rejected and does not fill the memory.
func TestReadFileWithoutEnd(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero here")
	}
	if _, err := ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than 4 MB") {
		t.Errorf("%v", err)
	}
}

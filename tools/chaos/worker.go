package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// worker is one bot process, which is restarted whenever it exits, as a service manager would do.
type worker struct {
	name string
	bin  string
	dir  string
	args []string
	env  []string
	off  atomic.Bool // cut off

	mu      sync.Mutex
	cmd     *exec.Cmd
	ended   bool // no more starts
	term    time.Time
	log     *os.File
	starts  int
	kills   int
	strange []string // unexpected ends
	drains  []time.Duration
	done    chan struct{}
}

func (w *worker) start() error {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(w.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w.log, w.done = f, make(chan struct{})
	go w.keepRunning()
	return nil
}

func (w *worker) keepRunning() {
	defer close(w.done)
	for {
		w.mu.Lock()
		if w.ended {
			w.mu.Unlock()
			return
		}
		cmd := exec.Command(w.bin, w.args...) //nolint:noctx // ended by signals
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, w.log, w.log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		w.cmd = cmd
		w.starts++
		w.mu.Unlock()
		if err == nil {
			err = cmd.Wait()
		}
		w.mu.Lock()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case !w.term.IsZero() && !status.Signaled():
			w.drains = append(w.drains, time.Since(w.term))
		case status.Signaled() && status.Signal() == syscall.SIGKILL:
		default:
			w.strange = append(w.strange, fmt.Sprintf("%v: %s", err, w.lastLine()))
		}
		w.term = time.Time{}
		w.mu.Unlock()
		time.Sleep(500 * time.Millisecond)
	}
}

func (w *worker) lastLine() string {
	data, err := os.ReadFile(w.log.Name())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// panics returns the panics and data races reported in the log.
func (w *worker) panics() []string {
	data, err := os.ReadFile(w.log.Name())
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("panic:")) || bytes.Contains(line, []byte(" panicked")) || bytes.Contains(line, []byte("fatal error:")) {
			out = append(out, w.name+": "+strings.TrimSpace(string(line)))
		}
	}
	return out
}

func (w *worker) signal(s syscall.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd == nil || w.cmd.Process == nil || w.cmd.ProcessState != nil {
		return
	}
	switch s {
	case syscall.SIGKILL:
		w.kills++
	case syscall.SIGTERM:
		w.term = time.Now()
	}
	_ = syscall.Kill(-w.cmd.Process.Pid, s)
}

// stop stops the worker permanently, with SIGTERM. It returns how long that took.
func (w *worker) stop() time.Duration {
	began := time.Now()
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.signal(syscall.SIGCONT)
	w.signal(syscall.SIGTERM)
	select {
	case <-w.done:
	case <-time.After(time.Minute):
		w.signal(syscall.SIGKILL)
		<-w.done
	}
	return time.Since(began)
}

package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

func strField(f func(*Config) *string) field {
	return field{set: func(c *Config, v string) error { *f(c) = v; return nil }}
}

func secretField(f func(*Config) *Secret) field {
	return field{Secret: true, set: func(c *Config, v string) error { *f(c) = Secret(v); return nil }}
}

// hostsField reads comma-separated host names. Only a loopback address may have a port.
func hostsField(f func(*Config) *[]string) field {
	return field{set: func(c *Config, v string) error {
		var out []string
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			host, port, hasPort := strings.Cut(s, ":")
			_, perr := strconv.ParseUint(port, 10, 16)
			if strings.ContainsAny(host, "/@ ?#") || !strings.Contains(host, ".") || hasPort &&
				(perr != nil || !Loopback(host)) {
				return fmt.Errorf("want host names such as w.wiki, comma-separated, not %q", s)
			}
			out = append(out, strings.ToLower(s))
		}
		*f(c) = out
		return nil
	}}
}

// titleField reads a page title. It reports characters that MediaWiki forbids in titles, so that a bad title is found
// before the first edit fails.
func titleField(f func(*Config) *string) field {
	return field{set: func(c *Config, v string) error {
		if strings.ContainsAny(v, "[]{}|<>#") || hasControl(v) || len(v) > 255 {
			return fmt.Errorf("want a page title, without [ ] { } | < > #, not %q", v)
		}
		*f(c) = strings.ReplaceAll(v, "_", " ")
		return nil
	}}
}

// pagesField reads a list of pages: "talk", namespace numbers, titles, and title prefixes followed by "*".
func pagesField(f func(*Config) *[]string) field {
	return field{set: func(c *Config, v string) error {
		var out []string
		for _, s := range strings.Split(v, ",") {
			s = strings.TrimSpace(strings.ReplaceAll(s, "_", " "))
			if s == "" {
				continue
			}
			if strings.ContainsAny(strings.TrimSuffix(s, "*"), "[]{}|<>#*") || hasControl(s) || len(s) > 256 {
				return fmt.Errorf("want talk, a namespace number, a title, or a title prefix followed by *, not %q", s)
			}
			out = append(out, s)
		}
		*f(c) = out
		return nil
	}}
}

// userField reads a user name, which must not include a namespace.
func userField(f func(*Config) *string) field {
	return field{set: func(c *Config, v string) error {
		if strings.ContainsAny(v, "[]{}|<>#/@:=~\"&") || strings.Contains(v, "''") || hasControl(v) || len(v) > 85 {
			return fmt.Errorf("want a user name such as Ada Lovelace, without User:, not %q", v)
		}
		*f(c) = strings.ReplaceAll(v, "_", " ")
		return nil
	}}
}

// lineField reads one line of text.
func lineField(f func(*Config) *string) field {
	return field{set: func(c *Config, v string) error {
		if hasControl(v) {
			return errors.New("want one line without control characters")
		}
		*f(c) = v
		return nil
	}}
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}

// urlField reads an http or https URL. Its errors do not quote the URL, which may contain a password.
func urlField(f func(*Config) *string) field {
	return field{URL: true, set: func(c *Config, v string) error {
		if v != "" {
			u, err := url.Parse(v)
			switch {
			case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
				return errors.New("want an address such as https://example.org/path")
			case u.User != nil:
				return errors.New("the address must not contain a user name or password")
			case u.Scheme == "http" && !Loopback(u.Hostname()):
				return errors.New("want https, since secrets may be sent there; plain http is only allowed for loopback addresses")
			}
		}
		*f(c) = v
		return nil
	}}
}

// Off is the value that turns off the feature a setting controls.
const Off = "off"

// offField reads a URL or the word "off".
func offField(f func(*Config) *string) field {
	out := urlField(f)
	read := out.set
	out.set = func(c *Config, v string) error {
		if v != Off {
			return read(c, v)
		}
		*f(c) = v
		return nil
	}
	return out
}

// Loopback reports whether a host name or address refers to this machine: localhost, or an address such as 127.0.0.1.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func durField(f func(*Config) *time.Duration) field {
	return field{set: func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if n, nerr := strconv.Atoi(v); nerr == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d < 0 {
			return fmt.Errorf("want a duration such as 90s, 15m or 2h, or a number of seconds, not %q", v)
		}
		*f(c) = d
		return nil
	}}
}

// daysField reads a number of days, such as 180d. An empty value means forever, stored as -1.
func daysField(f func(*Config) *time.Duration) field {
	return field{set: func(c *Config, v string) error {
		if v == "" {
			*f(c) = -1
			return nil
		}
		digits, ok := strings.CutSuffix(v, "d")
		n, err := strconv.ParseUint(digits, 10, 16)
		if !ok || err != nil {
			return fmt.Errorf("want a number of days such as 180d, not %q", v)
		}
		*f(c) = time.Duration(n) * 24 * time.Hour
		return nil
	}}
}

func timeField(f func(*Config) *time.Time) field {
	return field{set: func(c *Config, v string) error {
		if v == "" {
			*f(c) = time.Time{}
			return nil
		}
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z", "2006-01-02"} {
			if t, err := time.Parse(layout, v); err == nil {
				*f(c) = t.UTC()
				return nil
			}
		}
		return fmt.Errorf("want a time such as 2026-11-20 or 2026-11-20T12:00:00Z, not %q", v)
	}}
}

func intField(f func(*Config) *int) field {
	return field{set: func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Errorf("want a whole number of at least 0, not %q", v)
		}
		*f(c) = n
		return nil
	}}
}

func usdField(f func(*Config) *float64) field {
	return field{set: func(c *Config, v string) error {
		if v == "" {
			*f(c) = 0
			return nil
		}
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x > 0) || x > 1e6 {
			return fmt.Errorf("want an amount above 0 such as 2.50, not %q", v)
		}
		*f(c) = x
		return nil
	}}
}

// shareField reads a number from 0 to 1.
func shareField(f func(*Config) *float64) field {
	return field{set: func(c *Config, v string) error {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return fmt.Errorf("want a number from 0 to 1 such as 0.5, not %q", v)
		}
		*f(c) = x
		return nil
	}}
}

func enumField(f func(*Config) *string, allowed ...string) field {
	return field{set: func(c *Config, v string) error {
		for _, a := range allowed {
			if v == a {
				*f(c) = v
				return nil
			}
		}
		return fmt.Errorf("want one of %s, not %q", strings.Join(allowed, ", "), v)
	}}
}

func cronField(f func(*Config) *string) field {
	return field{set: func(c *Config, v string) error {
		if v != "" {
			if _, err := cron.ParseStandard(v); err != nil {
				return fmt.Errorf("want five cron fields such as */10 * * * *, or a word such as @hourly, not %q", v)
			}
		}
		*f(c) = v
		return nil
	}}
}

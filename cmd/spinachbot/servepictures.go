package main

import (
	"log/slog"
	"path/filepath"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/picture"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	webask "github.com/spinachbot/spinachbot/internal/web/ask"
)

// picturesFolder is the folder in DATA_DIR for pictures that results refer to. It is only a cache, since pictures can
// be fetched again.
const picturesFolder = "pictures"

// picturesFrom returns the base URL of the pictures that results refer to, or "" for no pictures. A local graph may be
// private or used without a network, so nothing is requested from Wikimedia Commons for it unless the settings allow
// that.
func picturesFrom(cfg *config.Config) string {
	switch {
	case cfg.PicturesURL == config.Off || cfg.PicturesURL == "" && isLoopback(cfg.SPARQLEndpoint):
		return ""
	case cfg.PicturesURL != "":
		return cfg.PicturesURL
	}
	return picture.Commons
}

// newPictures returns a fetcher for the pictures in results, or nil if results show only links.
func newPictures(lg *slog.Logger, e *env, cfg *config.Config, wrap wrapper) webask.Pictures {
	base := picturesFrom(cfg)
	if base == "" {
		return nil
	}
	ua, err := userAgent(cfg, isLoopback(base))
	if err != nil {
		lg.Warn("results show no pictures", "error", err)
		return nil
	}
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: ua, Hosts: picture.Hosts(base), Public: true})
	if err != nil {
		lg.Warn("results show no pictures", "error", err)
		return nil
	}
	f, err := picture.New(picture.Options{Log: lg, Base: base, Transport: wrap.around(rt),
		Dir: filepath.Join(cfg.DataDir, picturesFolder), Now: e.now})
	if err != nil {
		lg.Warn("results show no pictures", "error", err)
		return nil
	}
	return f
}

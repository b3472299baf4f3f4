package main

import (
	"log/slog"
	"path/filepath"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/picture"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	webask "github.com/spinachbot/spinachbot/internal/web/ask"
)

// picturesFolder is the folder of the pictures that results named, in DATA_DIR. They can be fetched again.
const picturesFolder = "pictures"

// picturesFrom is the address of the pictures that results name, "" for none. A graph on this machine may be private, or
// a trial without a network: then nothing is asked of Wikimedia Commons, unless the settings say so.
func picturesFrom(cfg *config.Config) string {
	switch {
	case cfg.PicturesURL == config.Off || cfg.PicturesURL == "" && isLoopback(cfg.SPARQLEndpoint):
		return ""
	case cfg.PicturesURL != "":
		return cfg.PicturesURL
	}
	return picture.Commons
}

// newPictures returns what fetches the pictures of results, nil when they are links only.
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

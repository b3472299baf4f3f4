package render

import "embed"

//go:embed texts.tmpl
var textFiles embed.FS

var texts = MustTexts(textFiles, "texts.tmpl")

func say(name string, data any) string { return texts.Say(name, data) }

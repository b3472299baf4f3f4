// Package data holds what the demo and the sandbox start with: a slice of Wikidata, a forum page with requests, and what the scripted model says to them.
//
//   - *.ttl: the slice in Wikidata's RDF model, some 600 items and properties by theme. Item and property numbers, statements, ranks and qualifiers are
//     Wikidata's; statement and value ids are ours, and so are the descriptions. tools/confirmslice confirms the facts against traces of the real service.
//   - forum.wikitext: a page like Wikidata:Request a query, with threads of the kinds people really post. All times are in March 2026.
//   - script.txt: the model's side of the seeded requests and the follow-ups, in the format of llm.ParseScript.
//   - followups.txt: follow-ups to post below the bot's replies: a line "== heading", a line "author: NAME", then the text.
//   - expected.json: what the final query of each script must return, worked out by hand; items by number, literals by their text.
package data

import "embed"

// Files are the files named in the package comment, at the root of the file system.
//
//go:embed *.ttl forum.wikitext script.txt followups.txt expected.json
var Files embed.FS

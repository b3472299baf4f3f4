// Package wiki is a small HTTP wiki: the demo's forum, and the wiki for tests that must not use the network.
//
// It implements the part of MediaWiki's action API that the bot's client uses, in MediaWiki's own format
// (formatversion=2): login with a bot password, tokens, asserts, revisions, contributions, edits with real edit
// conflicts, and previews. The conformance suite in this folder runs on both this wiki and a real MediaWiki. In the
// browser, its pages look like a forum, with forms for posting a request and for replying.
//
// The layers, bottom up:
//
//   - [Wiki] stores pages as lists of revisions, in memory and in an append-only file that survives kill -9. Saving
//     works as in MediaWiki: signatures are expanded, a section is replaced in the base revision, and the result is
//     merged into the current page line by line (merge.go), or rejected as a conflict.
//   - render*.go turns a subset of wikitext into HTML. All wikitext is untrusted: whatever the renderer does not
//     understand is shown as text.
//   - [Handler] serves the API (api*.go) and the pages (web.go, forms.go).
//
// The wiki has no user rights, no deletions, no files, and only the templates that the forum uses. It is not meant for
// the open internet.
package wiki

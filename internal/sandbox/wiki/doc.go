// Package wiki is a small HTTP wiki: the forum of the demo, and the wiki of tests that must not leave the machine.
//
// It speaks the part of MediaWiki's action API that the bot's client uses, in MediaWiki's own shapes (formatversion=2): login with a bot password, tokens, asserts,
// revisions, contributions, edits with real edit conflicts, previews. What it answers is held against a real MediaWiki by the conformance suite in this folder, which runs on both.
// In the browser its pages look like a forum, with forms to post a request and to reply.
//
// The layers, bottom up:
//
//   - [Wiki] holds pages as lists of revisions, in memory and in an append-only file that survives kill -9. Saving follows MediaWiki: signatures are expanded,
//     a section is replaced in the base revision, and the result is merged into the current page line by line (merge.go), or refused as a conflict.
//   - render.go and its neighbours turn a subset of wikitext into HTML. All of it is untrusted: what is not understood is shown as text.
//   - [Handler] serves the API (api*.go) and the pages (web.go).
//
// It has no rights, no deletions, no files, and templates only of the kinds the forum uses. It is not meant for the open internet.
package wiki

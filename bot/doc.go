// Package bot answers requests on a wiki page: it reads the page, picks the requests that are for it, has them solved
// by the agent, drafts replies, keeps them in a ledger and publishes them through a gate. It is the only package that
// writes to a wiki.
//
// [Bot.Round] is one pass, the same for `run --once`, for the schedule and for the demo. Everything it does to the
// world goes through [Wiki], [Solver] and [Store].
//
// # The life of an entry
//
// Each comment that may be answered has at most one [Entry] in the ledger. Which comment an entry belongs to is decided by signature, words and place, see identity.go:
// two comments of the same author and minute are two requests, wherever they are on the page.
//
//	noticed ──▶ accepted ──▶ proposed ──▶ approved ──▶ posting ──▶ posted
//	   │            │            │            │  ▲         │ │
//	   ▼            ▼            ▼            ▼  └─────────┘ ▼
//	skipped      gave_up      rejected     gave_up        gave_up
//
// A comment whose words change goes back to noticed. `ledger retry` brings skipped, gave_up and rejected entries back
// to noticed; posted is final. Reasons to ignore a comment that the page alone shows (our own posts, other bots,
// resolved threads, thanks) leave no entry: they are found again each time.
//
// # Whom it answers
//
// The first comment of a thread is a request; a comment directly under one of ours, or one that mentions our account
// by a link, a ping or a plain @Name outside of quotations, is a follow-up, whoever wrote it. What was on the page at
// the first start is left alone ([Config].AnswerSince overrides). A comment is answered when it is
// [Config].AnswerDelay old. A thread that is marked resolved, or in which someone else has posted a query or a link
// to one since ([Config].QueryHosts), is left alone, the latter unless we are mentioned. An unsigned first comment is
// answered once it has been unchanged for [Config].UnsignedDelay (people fix signatures, and the words are all that
// it can be recognized by); unsigned later comments are ignored.
//
// Whether a picked comment asks for something is judged by the model. Where there is none, its words must do: a
// request brings a query, has a question mark or says what people say who ask, in six languages; a follow-up with a
// query under our reply counts as someone's answer unless it asks or mentions us.
//
// Bots are never answered. An account is one when its name ends in Bot or BOT, or in "bot" as a word of its own, with
// or without a number, when it is known as one (the users of MediaWiki's own programs among them), or when
// [Config].Bots names it.
//
// # Why every accepted request is answered or recorded as given up
//
// An accepted entry is in the ledger before anything else happens to it, and every Round takes up every open entry
// whose time has come. Failures are counted in the entry, and so are starts that never came back because the whole
// program ended, so that each entry reaches a last state after a bounded number of Rounds in which the gate is open
// and the wiki can be reached.
//
// # Why nothing is posted twice
//
// Before a save is sent the entry becomes posting, with the base revision and both clocks, and that write is durable.
// So a reply can be on the wiki, or under way to it, only if its entry is posting or later. An entry leaves posting
// for another try only
//
//   - when the wiki answered that it did not save ([ErrConflict], [ErrBlocked], [ErrStale], [ErrNotSaved]: nothing is
//     under way), or
//   - when, at least [Config].UnknownGrace after the save began, neither a freshly read page holds a comment of ours
//     with the entry's marker, nor does the list of our own edits hold one with the key in its summary. The list
//     covers the case that the reply was posted and its section archived or removed since. Where administrators hid
//     the summary or the author, the text of the revision decides; where they hid the text as well, the entry is
//     given up, and only the operator's `ledger retry` leads on.
//
// Should the first save arrive even later, after such a look, then one of the two saves meets a section that the
// other has changed: both carry the revision that they were made from, both insert at the same place, and MediaWiki
// answers with an edit conflict (tried on 1.39: the account's own edits conflict in section edits too). What is left
// is a save that arrives after the grace although someone replied at another place of the same thread in between:
// the two would then be apart, and a merge by lines could take both. The grace is to be longer than the wiki's own
// time limit for a request; then no such save exists. Every try begins with a fresh reading in which our own reply is
// looked for: by the marker, and by author and parent, which holds even when the ledger was lost.
//
// Between the last reading and the save lie one reading of the stop page and one write of the ledger. MediaWiki
// merges by lines what others saved in that moment: a change of the request's own last line, a reply at our place, an
// archived section are conflicts; a mark elsewhere in the section (resolved, at its top) is merged.
//
// A forged signature of ours with a forged marker can thus keep us silent, but never make us speak twice.
package bot

// Package bot answers requests on a wiki page: it reads the page, picks the requests that are meant for it, lets the
// agent solve them, drafts replies, keeps them in a ledger and publishes them through a gate. It is the only package
// that writes to a wiki.
//
// [Bot.Round] is one pass, the same for `run --once`, for the schedule and for the demo. All its effects on the outside
// go through [Wiki], [Solver] and [Store].
//
// # The life of an entry
//
// Each comment that may be answered has at most one [Entry] in the ledger. Signature, words and place decide which
// comment an entry belongs to; see identity.go. Two comments by the same author in the same minute are two requests,
// anywhere on the page.
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
// The first comment of a thread is a request; a comment directly under one of ours, or one that mentions our account by
// a link, a ping or a plain @Name outside of quotations, is a follow-up, whoever wrote it. What was on the page at the
// first start is ignored, unless [Config].AnswerSince is set. A comment is answered once it is [Config].AnswerDelay
// old. A thread that is marked resolved is ignored. So is one in which someone else has since posted a query or a link
// to one ([Config].QueryHosts), unless we are mentioned. An unsigned first comment is answered once it has not changed
// for [Config].UnsignedDelay: people fix signatures, and without one a comment is recognized only by its words. Later
// unsigned comments are ignored.
//
// The model judges whether a picked comment asks for something. Without a model, the words decide. A request contains
// a query, a question mark or a phrase that people ask with, in six languages. A follow-up with a query under our
// reply counts as someone's answer unless it asks something or mentions us.
//
// Bots are never answered. An account is one when its name ends in Bot or BOT, or in the separate word "bot", with or
// without a number, or when it is known as one; the users of MediaWiki's own programs are.
//
// # Why every accepted request is answered or recorded as given up
//
// An accepted entry is in the ledger before anything else happens to it, and every Round takes up every open entry
// whose time has come. The entry counts failures, and also starts that the program's end interrupted. So each entry
// reaches a final state after a bounded number of Rounds in which the gate is open and the wiki can be reached.
//
// # Why nothing is posted twice
//
// Before a save is sent the entry becomes posting, with the base revision and both clocks, and that write is durable.
// So a reply can be on the wiki, or on its way there, only if its entry is posting or later. An entry leaves posting
// for another try only
//
//   - when the wiki answered that it did not save ([ErrConflict], [ErrBlocked], [ErrStale], [ErrNotSaved]: nothing is
//     under way), or
//   - when, at least [Config].UnknownGrace after the save began, neither a freshly read page holds a comment of ours
//     with the entry's marker, nor does the list of our own edits hold one with the key in its summary. The list covers
//     the case that the reply was posted and its section has since been archived or removed. If administrators hid the
//     summary or the author, the text of the revision decides; if they hid the text as well, the entry is given up, and
//     only the operator's `ledger retry` can continue it.
//
// The ledger may be new, or restored from a backup that is older than a reply. So before an entry's first save the same
// list is searched: a reply that was removed since, also by the operator, is not posted again.
//
// The first save may arrive even later, after that check. Then one of the two saves meets a section that the other has
// changed. Both carry their base revision and both insert at the same place, so MediaWiki reports an edit conflict
// (tested on 1.39: an account's own section edits conflict, too). One case is left: a save arrives after the grace
// period, and someone has meanwhile replied elsewhere in the same thread. Then the two saves are at different places,
// and a merge by lines could accept both. The grace period must be longer than the wiki's own time limit for a request;
// then there is no such save. Every attempt begins by reading the page again and looking for our own reply: by the
// marker, and by author and parent, which works even when the ledger was lost.
//
// A reply without a query may be written by the wiki's discussion tools ([Tools]), by a single process only. They read
// the page when they write and have no base revision, so a save of theirs that begins after our second attempt meets no
// conflict. So it must not begin: before anything is read again, the wiki client ends the session in which the save was
// sent, even if the process that sent it was killed, and the wiki ignores a request whose session has ended (tested on
// 1.43). A save that had begun before that read the page before us, so it and our section edit conflict. Where there
// are no sessions, with OAuth 1.0a, the time in a request's signature has expired before we try again, since the bot
// then waits [lateTools] times as long. Requests with an OAuth 2 token never expire, so the tools are not used with
// one. The end of the session also stops section edits that begin late.
//
// Between the last read and the save, the bot reads the stop page and writes the ledger once. MediaWiki merges by lines
// what others save in that moment. A change to the request's last line, a reply at our place and an archived section
// are conflicts. A mark elsewhere in the section, such as "resolved" at its top, is merged.
//
// So a forged signature with a forged marker can keep us silent, but never make us post twice.
package bot

// Package bot answers requests on a wiki page: it reads the page, selects the requests addressed to it, has the agent
// solve them, drafts replies, stores them in a ledger and publishes them through a gate. It is the only package that
// writes to a wiki.
//
// [Bot.Round] is one pass; `run --once`, the schedule and the demo all call it. It reaches the outside world only
// through [Wiki], [Solver] and [Store].
//
// # The life of an entry
//
// Each comment that may be answered has at most one [Entry] in the ledger. An entry is matched to its comment by
// signature, text and position; see identity.go. Two comments by the same author in the same minute, anywhere on the
// page, are two requests.
//
//	noticed ──▶ accepted ──▶ proposed ──▶ approved ──▶ posting ──▶ posted
//	   │            │            │            │  ▲         │ │
//	   ▼            ▼            ▼            ▼  └─────────┘ ▼
//	skipped      gave_up      rejected     gave_up        gave_up
//
// If the text of a comment changes, its entry returns to noticed. `ledger retry` returns skipped, gave_up and rejected
// entries to noticed; posted is final. A comment that the bot ignores for a reason visible on the page (our own posts,
// other bots, resolved threads, thanks) has no entry; the bot rechecks the reason in each round.
//
// # Which comments the bot answers
//
// The first comment of a thread is a request. A comment directly under one of ours is a follow-up, whoever wrote it. So
// is a comment that mentions our account with a link, a ping or a plain @Name outside of quotations. Comments that were
// on the page when the bot first started are ignored, unless [Config].AnswerSince is set. A comment is answered once it
// is [Config].AnswerDelay old. A thread that is marked resolved is ignored. A thread in which someone else has since
// posted a query or a link to one ([Config].QueryHosts) is also ignored, unless we are mentioned. An unsigned first
// comment is answered only after it has not changed for [Config].UnsignedDelay, because people add missing signatures,
// and an unsigned comment can be recognized only by its words. Later unsigned comments are ignored.
//
// The model judges whether a selected comment asks for something. Without a model, a comment is a request if it
// contains a query, a question mark or a phrase typical of requests in one of six languages. A follow-up that contains
// a query is treated as someone's answer to the request unless it asks something or mentions us.
//
// Bots are never answered. An account is a bot if its name ends in Bot or BOT or in the separate word "bot", with or
// without a number, or if it is in a list of known bots, which includes MediaWiki's own system accounts.
//
// # Why every accepted request is answered or recorded as abandoned
//
// An accepted entry is in the ledger before anything else happens to it, and every Round handles every open entry that
// is due. The entry counts failed attempts, including those cut short because the program ended. Each entry therefore
// reaches a final state after a bounded number of Rounds in which the gate is open and the wiki is reachable.
//
// # Why nothing is posted twice
//
// Before a save is sent, the entry's state becomes posting, and the base revision and the time on both clocks are
// recorded. That write is durable. A reply can therefore be on the wiki, or in transit, only if its entry is in the
// posting state or a later state. An entry leaves posting for another attempt only
//
//   - if the wiki responded that nothing was saved ([ErrConflict], [ErrBlocked], [ErrStale], [ErrNotSaved]: no save is
//     in progress), or
//   - if, at least [Config].UnknownGrace after the save began, a freshly read page has no comment of ours with the
//     entry's marker, and no edit in the list of our own edits has the key in its summary. The list covers the case
//     where the reply was posted and its section has since been archived or removed. If administrators hid the summary
//     or the author, the revision's text decides. If they hid the text as well, the entry is abandoned, and only the
//     operator's `ledger retry` can continue it.
//
// The ledger may be new, or restored from a backup that is older than a reply. The same list is therefore searched
// before an entry's first save: a reply that has since been removed, even by the operator, is not posted again.
//
// The first save may arrive even after that check. Then one of the two saves edits a section that the other has already
// changed. Both have a base revision and insert at the same position, so MediaWiki reports an edit conflict (tested on
// 1.39: section edits by the same account also conflict). One case remains: if a save arrives after the grace period
// and someone has since replied elsewhere in the same thread, the two saves insert at different positions, and a line
// merge could accept both. To rule this out, the grace period must be longer than the wiki's own time limit for a
// request. Every attempt starts by rereading the page and searching for our own reply, by the marker and by author and
// parent. The second search works even if the ledger was lost.
//
// The wiki's discussion tools ([Tools]) may write a reply without a query, but only for a single process. They read the
// page when they write and have no base revision, so a save made with them that starts after our second attempt does
// not conflict with that attempt. To prevent this, the wiki client ends the session in which the save was sent before
// it reads anything again, even if the process that sent the save was killed; the wiki ignores a request whose session
// has ended (tested on 1.43). A save that had already begun read the page before we did, so it conflicts with our
// section edit. With OAuth 1.0a, there are no sessions; instead, the bot waits [lateTools] times as long, by which time
// the timestamp in the request's signature has expired. Requests with an OAuth 2 token never expire, so the tools are
// not used with OAuth 2. Ending the session also stops section edits that start late.
//
// Between reading the page for the last time and saving, the bot reads the stop page and writes to the ledger once.
// MediaWiki merges the edits that others save in the meantime, line by line. A change to the request's last line, a
// reply at the same position, or the archiving of the section causes a conflict. A mark elsewhere in the section, such
// as "resolved", is merged.
//
// A forged signature with a forged marker can keep the bot from replying, but can never make it post twice.
package bot

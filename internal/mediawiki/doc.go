// Package mediawiki provides safe access to a MediaWiki wiki for a bot, over go-mwclient.
//
// # What a bot must not get wrong
//
// Reading is easy: [Client.Page] returns a page's wikitext, its revision and the wiki's clock from one request. It
// retries temporary failures.
//
// Saving is where bots do harm. [Client.Save] makes at most one attempt that can have an effect, and the [Kind] of its
// error distinguishes five outcomes. In four of them, nothing was saved: because of a temporary failure, so that the
// save may be retried later; because someone else edited; because the wiki does not accept this edit; or because the
// account may not edit. In the fifth, the outcome is unknown, because the request was sent but no answer came back.
// Saving again after an unknown outcome is how double posts happen: check the page and [Client.OwnEdits] first.
//
// A save never waits. When it is called, the caller's checks (stop page, approval) are only seconds old, and a wait for
// the wiki's lag would make them stale. So if a wiki lags or limits the rate, the save fails at once with a [Transient]
// error, with the time to wait in [Error].RetryAfter. A save handles only two failures itself, a stale token and a lost
// session: they do not require a wait, and they prove that nothing was saved.
//
// # Conflicts
//
// Every save of a section contains the revision that the text is based on (baserevid) and the time at which it was read
// (starttimestamp). MediaWiki then merges the edit into the current page, even if sections before it were added, and
// answers editconflict if it cannot. Without a base revision, MediaWiki does not check at all, and a section number
// means the section that has this number at the time of the save. This package refuses such a save. The parameter
// nocreate keeps a deleted page from being created again.
//
// # Manners
//
// Requests are sent one at a time, with maxlag and a User-Agent that contains a contact. Cookies are kept. Reads obey
// Retry-After, and a Retry-After in any answer is remembered. Each request asserts the account's name (assert,
// assertuser), so that an expired session never becomes an edit under an IP address. Requests are sent only to allowed
// hosts, redirects are not followed, and answers are read only up to a limit. Errors contain no secret, even if the
// wiki echoes the request.
//
// Sources: https://www.mediawiki.org/wiki/API:Edit, /API:Etiquette, /Manual:Maxlag_parameter, /API:Assert; wikitech's
// page on User-Agent policy; and trials on MediaWiki 1.39.
package mediawiki

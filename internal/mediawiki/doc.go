// Package mediawiki provides a client with which a bot can safely read and edit a MediaWiki wiki. It is built on
// go-mwclient.
//
// # What a bot must get right
//
// Reading is easy: [Client.Page] returns a page's wikitext, its revision and the wiki's clock in a single request. It
// retries temporary failures.
//
// Saving is where bots can do harm. [Client.Save] makes at most one attempt that can have an effect, and the [Kind] of
// its error distinguishes five outcomes. In four of them, nothing was saved: the failure was temporary, and the save
// may be retried later; someone else edited the page; the wiki does not accept this edit; or the account may not edit.
// In the fifth, the outcome is unknown, because the request was sent but no response came back. Saving again after an
// unknown outcome is how duplicate posts happen: check the page and [Client.OwnEdits] first.
//
// A save never waits. When it is called, the caller's checks (stop page, approval) are only seconds old, and waiting
// out the wiki's lag would make them stale. So if a wiki is lagging or limiting the rate, the save fails immediately
// with a [Transient] error, and [Error].RetryAfter is the time to wait. Save itself handles only two failures, a stale
// token and a lost session: neither requires a wait, and both prove that nothing was saved.
//
// # Conflicts
//
// Every save of a section contains the revision that the text is based on (baserevid) and the time at which it was read
// (starttimestamp). MediaWiki then merges the edit into the current page, even if sections were added before it, and
// responds with editconflict if it cannot. Without a base revision, MediaWiki does not check for conflicts, and a
// section number means whichever section has that number at the time of the save. This package refuses to save without
// a base revision. The nocreate parameter keeps a deleted page from being recreated.
//
// # Etiquette
//
// Requests are sent one at a time, with maxlag and a User-Agent that contains contact information. Cookies are kept.
// Reads obey Retry-After, and a Retry-After in any response is remembered. Each request asserts the account's name
// (assert, assertuser), so that an expired session never becomes an edit under an IP address. Requests are sent only to
// allowed hosts, redirects are not followed, and responses are read only up to a limit. Errors contain no secrets, even
// if the wiki echoes the request.
//
// Sources: https://www.mediawiki.org/wiki/API:Edit, /API:Etiquette, /Manual:Maxlag_parameter, /API:Assert; Wikitech's
// page on the User-Agent policy; and experiments with MediaWiki 1.39.
package mediawiki

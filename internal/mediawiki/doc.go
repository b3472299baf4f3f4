// Package mediawiki provides safe access to a MediaWiki wiki for a bot, over go-mwclient.
//
// # What a bot must not get wrong
//
// Reading is easy: [Client.Page] returns a page's wikitext, its revision and the wiki's clock from one request. It
// retries failures that may pass.
//
// Saving is where bots do harm. [Client.Save] makes at most one attempt that can have an effect, and its error says
// which of five things happened (see [Kind]). Nothing was saved, and it may be tried later. Nothing was saved because
// someone else edited. Nothing was saved because the wiki does not want this edit. Nothing was saved because the
// account may not edit. Or it is unknown, because the request was sent and no answer came back. Saving again after the
// last one is how double posts happen: check the page and [Client.OwnEdits] first.
//
// A save never waits. When it is called, the caller's checks (stop page, approval) are only seconds old, and a wait for
// the wiki's lag would make them stale. So a wiki that lags or limits the rate causes a [Transient] error at once, with
// the time to wait in [Error].RetryAfter. A save handles two failures itself, a stale token and a lost session: they
// need no wait, and they prove that nothing was saved.
//
// # Conflicts
//
// Every save of a section carries the revision from which the text was made (baserevid) and the time at which it was
// read (starttimestamp). MediaWiki then merges the edit into the current page, even if sections before it were added,
// and answers editconflict if it cannot. Without a base revision MediaWiki does not check at all, and a section number
// means whatever section has it now. Such a save is refused here. The parameter nocreate keeps a deleted page from
// being created again.
//
// # Manners
//
// One request is sent at a time, with maxlag and a User-Agent that has a contact. Cookies are kept. Reads obey
// Retry-After, and all requests remember it. Each request asserts the account's name (assert, assertuser), so that an
// expired session never becomes an edit under an IP address. Nothing is sent to a host that was not allowed, redirects
// are not followed, and answers are read up to a limit. Errors contain no secret, even if the wiki echoes the request.
//
// Sources: https://www.mediawiki.org/wiki/API:Edit, /API:Etiquette, /Manual:Maxlag_parameter, /API:Assert; wikitech's
// page on User-Agent policy; and trials on MediaWiki 1.39.
package mediawiki

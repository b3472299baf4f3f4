// Package mediawiki is bot-safe access to a MediaWiki wiki, over go-mwclient.
//
// # What a bot must not get wrong
//
// Reading is easy: [Client.Page] gives a page's wikitext, its revision and the wiki's clock from one request, and retries what can heal.
//
// Saving is where bots do harm. [Client.Save] makes at most one attempt that can have an effect, and its error says which of five things happened
// (see [Kind]): nothing and it may be tried later, nothing because somebody else edited, nothing because the wiki does not want this edit, nothing because the
// account may not edit, or unknown because the request went out and no answer came back. Sending again after the last one is how double posts are made;
// look at the page and at [Client.OwnEdits] first.
//
// A save never waits. The caller's checks (stop page, approval) are only seconds old when it calls, and a wait for the wiki's lag would make them stale:
// so a lagging or rate-limiting wiki gives a [Transient] error at once, with the time to wait in [Error].RetryAfter. The two failures that a save repairs itself
// need no wait and are proof that nothing was saved: a stale token and a lost session.
//
// # Conflicts
//
// Every save of a section carries the revision the text was made from (baserevid) and the time it was read (starttimestamp). MediaWiki then merges the edit into
// the current page, also when sections before it were added, and answers editconflict where it cannot. Without a base revision MediaWiki does not check at all and
// section numbers hit whatever stands there now; hence a save without one is refused here. nocreate keeps a deleted page from being made again.
//
// # Manners
//
// One request at a time, maxlag on each, a User-Agent with a contact, cookies kept, Retry-After obeyed by reads and remembered for all. Each request asserts the
// account's name (assert, assertuser), so that an expired session can never become an edit under an IP address. Nothing is sent to a host that was not allowed, redirects are not
// followed, and an answer is read up to a limit.
//
// Sources: https://www.mediawiki.org/wiki/API:Edit, /API:Etiquette, /Manual:Maxlag_parameter, /API:Assert; wikitech's page on User-Agent policy; and trials on MediaWiki 1.39.
package mediawiki

// Package bot answers requests on a wiki page: it reads the page, picks the requests that are for it, has them solved by the agent,
// drafts replies, keeps them in a ledger and publishes them through a gate. It is the only package that writes to a wiki.
package bot

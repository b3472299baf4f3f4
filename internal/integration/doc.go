// Package integration has no code. Its tests, behind the build tag integration, run the program itself against other
// people's servers, a real MediaWiki and a real browser. They fail if one is missing. Run them with `make integration`.
//
// The bot runs as a child process that is controlled only by its settings. Between it and the wiki, the model and the
// graph is a relay ([relay] in relay_test.go) that can kill the bot before or after any call; the system call tracer
// kills it at any write to its files. So the promise "one reply, whatever happens" is tested on the same program that
// is deployed.
package integration

// Package integration contains only tests. With the build tag integration, they run the program itself against other
// projects' servers, a real MediaWiki and a real browser. They fail if one of these is missing. Run them with `make
// integration`.
//
// The bot runs as a child process that is controlled only by its settings. All its calls to the wiki, the model and the
// graph pass through a relay ([relay] in relay_test.go), which can kill the bot before or after any call. The system
// call tracer can kill it at any write to its files. So the promise "one reply, whatever happens" is tested on the same
// program that is deployed.
package integration

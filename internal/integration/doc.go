// Package integration contains only tests. With the integration build tag, they run the actual program against a real
// browser and third-party servers, including MediaWiki. They fail if one of these is missing. Run them with `make
// integration`.
//
// The bot runs as a child process that is controlled only by its settings. All of its calls to the wiki, the model and
// the graph pass through a relay ([relay] in relay_test.go), which can kill the bot before or after any call. The
// system call tracer can kill it at any write to its files. So the promise "one reply, whatever happens" is tested on
// the very program that is deployed.
package integration

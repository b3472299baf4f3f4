//go:build !race

package embedded

// raceDetector says that the tests run with the race detector, under which a heap's size means nothing.
const raceDetector = false

//go:build !race

package embedded

// raceDetector reports whether the tests run with the race detector, which makes the heap's size meaningless.
const raceDetector = false

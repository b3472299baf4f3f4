//go:build race

package embedded

// raceDetector reports whether the tests run with the race detector, which makes the size of the heap meaningless.
const raceDetector = true

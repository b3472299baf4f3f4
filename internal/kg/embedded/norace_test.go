//go:build !race

package embedded

// raceDetector reports whether the tests run with the race detector, which makes heap sizes meaningless.
const raceDetector = false

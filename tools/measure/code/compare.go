package code

// Compare compares the statements in two trees. It returns the number of statements in before, how many of them no
// longer exist in after, and how many are new. A statement is the text between two semicolons or braces, including the
// semicolons that Go's scanner inserts at line ends, so a line that was only wrapped or moved is unchanged.
func Compare(before, after *Tree) (were, gone, added int) {
	count := map[string]int{}
	for _, p := range before.Packages {
		were += len(p.statements)
		for _, s := range p.statements {
			count[s]++
		}
	}
	for _, p := range after.Packages {
		for _, s := range p.statements {
			if count[s] == 0 {
				added++
				continue
			}
			count[s]--
		}
	}
	for _, n := range count {
		gone += n
	}
	return were, gone, added
}

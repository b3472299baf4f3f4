package code

// Compare tells what became of the statements of an older tree: how many it had, how many of them are no longer there,
// and how many are new. A statement is what is between two semicolons or braces, also those that Go's scanner
// adds at the end of lines; so a line that was only broken or moved has not changed.
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

package embedded

// rowsPerPage is the number of rows per page.
const (
	pageShift   = 10
	rowsPerPage = 1 << pageShift
)

// rows is a list of rows of equal width. It grows one page at a time: once the first page is full, growing copies
// nothing and creates no garbage. It accounts for exactly the memory that it uses.
type rows[T any] struct {
	width int
	unit  int // size of a cell in bytes
	n     int
	pages [][]T
	used  int // number of bytes counted
}

// at returns row i. The slice is valid only until the next call of add, reset or free.
func (r *rows[T]) at(i int) []T {
	o := (i & (rowsPerPage - 1)) * r.width
	return r.pages[i>>pageShift][o : o+r.width : o+r.width]
}

// add appends a row of zero cells and returns it. Rows returned earlier are no longer valid, because the first page
// moves as it grows.
func (r *rows[T]) add(ex *exec) ([]T, error) {
	page := r.n >> pageShift
	if page == len(r.pages) || page == 0 && (r.n+1)*r.width > cap(r.pages[0]) {
		if err := r.grow(ex, page); err != nil {
			return nil, err
		}
	}
	p := r.pages[page]
	o := len(p)
	p = p[:o+r.width]
	r.pages[page] = p
	r.n++
	row := p[o : o+r.width : o+r.width]
	clear(row)
	return row, nil
}

// grow makes room for a row on a page. It allocates whole pages, except for the first one, which many lists never fill
// and which grows by doubling.
func (r *rows[T]) grow(ex *exec, page int) error {
	if page > 0 {
		if err := r.count(ex, rowsPerPage*r.width*r.unit+48); err != nil {
			return err
		}
		r.pages = append(r.pages, make([]T, 0, rowsPerPage*r.width))
		return nil
	}
	size := min(max(4, 2*r.n), rowsPerPage) * r.width
	if err := r.count(ex, size*r.unit+48); err != nil {
		return err
	}
	first := make([]T, 0, size)
	if len(r.pages) == 0 {
		r.pages = append(r.pages, first)
		return nil
	}
	old := cap(r.pages[0])*r.unit + 48
	r.pages[0] = append(first, r.pages[0]...)
	r.used -= old
	ex.Free(old)
	return nil
}

func (r *rows[T]) count(ex *exec, n int) error {
	r.used += n
	return ex.Alloc(n)
}

func (r *rows[T]) truncate(n int) {
	if n >= r.n {
		return
	}
	r.n = max(n, 0)
	for i := range r.pages {
		left := min(max(r.n-i*rowsPerPage, 0), rowsPerPage)
		r.pages[i] = r.pages[i][:left*r.width]
	}
}

// reset empties the list but keeps its first page.
func (r *rows[T]) reset(ex *exec) {
	r.n = 0
	if len(r.pages) == 0 {
		return
	}
	clear(r.pages[0]) // the memory that its cells point to is no longer counted
	first := r.pages[0][:0]
	clear(r.pages[1:])
	r.pages = append(r.pages[:0], first)
	used := cap(first)*r.unit + 48
	ex.Free(r.used - used)
	r.used = used
}

func (r *rows[T]) free(ex *exec) {
	ex.Free(r.used)
	r.used, r.n, r.pages = 0, 0, nil
}

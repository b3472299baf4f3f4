package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// vectorTables store the vectors that embedding models return for text. Only the hash of each text is stored.
const vectorTables = `CREATE TABLE vectors (
	model TEXT NOT NULL,
	text BLOB NOT NULL, -- SHA-256
	vector BLOB NOT NULL, -- 32-bit floats, little-endian
	PRIMARY KEY (model, text)
) WITHOUT ROWID;`

// Vectors returns the stored vectors for texts, keyed by text.
func (s *Store) Vectors(ctx context.Context, model string, texts []string) (map[string][]float32, error) {
	out := map[string][]float32{}
	err := s.inTx(ctx, func(tx conn) error {
		for _, t := range texts {
			var b []byte
			sum := sha256.Sum256([]byte(t))
			err := tx.row(ctx, "SELECT vector FROM vectors WHERE model = ? AND text = ?", model, sum[:]).Scan(&b)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				continue
			case err != nil:
				return err
			case len(b) == 0 || len(b)%4 != 0:
				return fmt.Errorf("a vector has %d bytes", len(b))
			}
			v := make([]float32, len(b)/4)
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
			}
			out[t] = v
		}
		return nil
	})
	return out, failed(err, "vectors of %s", model)
}

// KeepVectors stores vectors by text.
func (s *Store) KeepVectors(ctx context.Context, model string, vectors map[string][]float32) error {
	err := s.inTx(ctx, func(tx conn) error {
		for t, v := range vectors {
			var b []byte
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			sum := sha256.Sum256([]byte(t))
			if _, err := tx.exec(ctx, "INSERT INTO vectors (model, text, vector) VALUES (?, ?, ?) ON CONFLICT (model, text) DO UPDATE SET vector = excluded.vector", model, sum[:], b); err != nil {
				return err
			}
		}
		return nil
	})
	return failed(err, "vectors of %s", model)
}

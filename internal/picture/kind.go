package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif"  // for [image.DecodeConfig]
	_ "image/jpeg" // the same
	_ "image/png"  // the same
)

// kindOf returns the media type of a picture that a page may show, detected from its content. It returns "" for
// anything else, including a picture with so many pixels that showing it could exhaust a browser's memory.
func kindOf(data []byte) string {
	if w, h, ok := webp(data); ok {
		return sized("webp", w, h)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return ""
	}
	return sized(format, c.Width, c.Height)
}

func sized(format string, w, h int) string {
	if w <= 0 || h <= 0 || w > maxPixels/h {
		return ""
	}
	return "image/" + format
}

// webp reads the size of a WebP picture from its first chunk
// (https://developers.google.com/speed/webp/docs/riff_container).
func webp(b []byte) (w, h int, ok bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch string(b[12:16]) {
	case "VP8X": // width-1 and height-1, 24 bits each
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16, true
	case "VP8L": // a signature, then width-1 and height-1, 14 bits each
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), b[20] == 0x2f
	case "VP8 ": // a start code, then width and height, in 14 bits each; the two bits above are a scale
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff),
			bytes.Equal(b[23:26], []byte{0x9d, 0x01, 0x2a})
	}
	return 0, 0, false
}

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// archive returns the directory as a compressed tar archive, with the directory's
// own name before every other. Only regular files and directories can be in it.
func archive(dir string, mtime time.Time) ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	tape := tar.NewWriter(zip)
	// WalkDir goes in lexical order.
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return add(tape, filepath.Dir(dir), path, d, mtime)
	})
	if err != nil {
		return nil, err
	}
	if err := tape.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func add(tape *tar.Writer, root, path string, d fs.DirEntry, mtime time.Time) error {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	header := &tar.Header{Format: tar.FormatUSTAR, Name: filepath.ToSlash(name), ModTime: mtime}
	if d.IsDir() {
		header.Typeflag, header.Mode, header.Name = tar.TypeDir, 0o755, header.Name+"/"
		return tape.WriteHeader(header)
	}
	if !d.Type().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	header.Typeflag, header.Mode, header.Size = tar.TypeReg, 0o644, int64(len(content))
	if info.Mode()&0o100 != 0 {
		header.Mode = 0o755
	}
	if err := tape.WriteHeader(header); err != nil {
		return err
	}
	_, err = tape.Write(content)
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// directories keeps each volume and each snapshot in a directory of its own: `data` is the file system, or `disk` the device,
// and `record.json` says what it is. A snapshot is a copy, which takes no care of who writes meanwhile.
type directories struct{ root string }

const (
	volumes    = "volumes"
	snapshots  = "snapshots"
	recordFile = "record.json"
	// unfinished is what is being made; it gets its name when it is whole.
	unfinished = ".unfinished-"
)

func openDirectories(root string) (*directories, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	d := &directories{root}
	for _, kind := range []string{volumes, snapshots} {
		if err := makePrivate(d.place(kind, "")); err != nil {
			return nil, err
		}
	}
	left, err := filepath.Glob(filepath.Join(root, unfinished+"*"))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return d, err
}

func (d *directories) place(kind, id string) string { return filepath.Join(d.root, kind, id) }

// content is the name of what a volume's bytes are in.
func content(block bool) string {
	if block {
		return "disk"
	}
	return "data"
}

func (d *directories) path(of volume) (string, error) {
	return filepath.Join(d.place(volumes, of.ID), content(of.Block)), nil
}

func (d *directories) findVolume(id string) (*volume, error) {
	return readRecord[volume](d.place(volumes, id))
}

func (d *directories) findSnapshot(id string) (*snapshot, error) {
	return readRecord[snapshot](d.place(snapshots, id))
}

func (d *directories) listVolumes() ([]volume, error) {
	return readRecords[volume](d.place(volumes, ""))
}

func (d *directories) listSnapshots() ([]snapshot, error) {
	return readRecords[snapshot](d.place(snapshots, ""))
}

func (d *directories) createVolume(ctx context.Context, wanted volume) error {
	from := ""
	switch {
	case wanted.Source.Snapshot != "":
		from = d.place(snapshots, wanted.Source.Snapshot)
	case wanted.Source.Volume != "":
		from = d.place(volumes, wanted.Source.Volume)
	}
	return d.build(d.place(volumes, wanted.ID), wanted, func(dir string) error {
		path := filepath.Join(dir, content(wanted.Block))
		if from != "" {
			if err := duplicate(ctx, filepath.Join(from, content(wanted.Block)), path); err != nil {
				return err
			}
		} else if !wanted.Block {
			return os.Mkdir(path, 0o700)
		}
		return resize(path, wanted)
	})
}

func (d *directories) growVolume(_ context.Context, grown volume) error {
	path, err := d.path(grown)
	if err != nil {
		return err
	}
	if err := resize(path, grown); err != nil {
		return err
	}
	return writeRecord(d.place(volumes, grown.ID), grown)
}

// resize makes a device as large as it has to be; a file system takes what its disk has.
func resize(path string, of volume) error {
	if !of.Block {
		return nil
	}
	disk, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(disk.Truncate(of.SizeBytes), disk.Close())
}

func (d *directories) createSnapshot(ctx context.Context, wanted snapshot) error {
	return d.build(d.place(snapshots, wanted.ID), wanted, func(dir string) error {
		of := content(wanted.Block)
		return duplicate(ctx, filepath.Join(d.place(volumes, wanted.Volume), of), filepath.Join(dir, of))
	})
}

func (d *directories) deleteVolume(_ context.Context, id string) error {
	return d.remove(d.place(volumes, id))
}

func (d *directories) deleteSnapshot(_ context.Context, id string) error {
	return d.remove(d.place(snapshots, id))
}

// remove takes the name away first: no reader finds half of it.
func (d *directories) remove(path string) error {
	scrap, err := os.MkdirTemp(d.root, unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scrap)
	if err := os.Rename(path, filepath.Join(scrap, "removed")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (d *directories) build(path string, record any, fill func(dir string) error) error {
	dir, err := os.MkdirTemp(d.root, unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := fill(dir); err != nil {
		return err
	}
	if err := writeRecord(dir, record); err != nil {
		return err
	}
	return os.Rename(dir, path)
}

func duplicate(ctx context.Context, from, to string) error {
	// Shares the blocks where the file system of the lab can.
	output, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, to).CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("cp: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// writeRecord replaces what is there at once.
func writeRecord(dir string, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, recordFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readRecord returns nil where there is none.
func readRecord[Kept any](dir string) (*Kept, error) {
	text, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var record Kept
	return &record, json.Unmarshal(text, &record)
}

func readRecords[Kept any](dir string) ([]Kept, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var records []Kept
	for _, entry := range entries {
		record, err := readRecord[Kept](filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		if record != nil {
			records = append(records, *record)
		}
	}
	return records, nil
}

package main

import (
	"context"
	"time"
)

// source is what a volume was made from: a snapshot, a volume, or neither.
type source struct {
	Snapshot string `json:",omitempty"`
	Volume   string `json:",omitempty"`
}

type volume struct {
	ID        string
	SizeBytes int64
	// Block: one device, in the place of a file system.
	Block   bool
	Source  source
	Created time.Time
}

type snapshot struct {
	ID        string
	Volume    string
	SizeBytes int64
	Block     bool
	Created   time.Time
}

// store keeps the bytes. What it is asked for has been checked: ids are names of files, sources exist and are not larger than
// what is made of them, and no other call works on the same ids meanwhile. Whatever ended in its midst is done again.
type store interface {
	// findVolume returns nil where there is none; findSnapshot likewise.
	findVolume(id string) (*volume, error)
	findSnapshot(id string) (*snapshot, error)
	listVolumes() ([]volume, error)
	listSnapshots() ([]snapshot, error)

	createVolume(ctx context.Context, wanted volume) error
	growVolume(ctx context.Context, grown volume) error
	// deleteVolume succeeds where there is none; deleteSnapshot likewise.
	deleteVolume(ctx context.Context, id string) error
	createSnapshot(ctx context.Context, wanted snapshot) error
	deleteSnapshot(ctx context.Context, id string) error

	// path is where a node finds the volume.
	path(of volume) (string, error)
}

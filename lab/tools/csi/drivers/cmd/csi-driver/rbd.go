package main

import (
	"context"
	"path/filepath"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// softDepth of clones of clones, from which on an image is flattened in the background.
	softDepth = 4
	// hardDepth, at which nothing is made of an image before it is flat.
	hardDepth = 8
	images    = "images"
	// base is the snapshot of a snapshot's image that volumes are cloned from.
	base = "base"
)

// rbd keeps each volume in an image of a pool of Ceph, and each snapshot in one too, which is a clone: so both can be deleted in any
// order, as ceph-csi does it. What an image is stands in a journal; ceph-csi has its own in the pool.
type rbd struct {
	ceph    ceph
	journal string
	rules   *rules

	mutex      sync.Mutex
	flattening map[string]bool
	// flattener is held by the one that flattens, and sweeper by the one that clears the trash.
	flattener, sweeper sync.Mutex
}

// image is what the journal says of one.
type image struct {
	State    imageState
	Volume   *volume   `json:",omitempty"`
	Snapshot *snapshot `json:",omitempty"`
	// Parent is the image that it is a clone of, which may be in the trash.
	Parent string `json:",omitempty"`
}

type imageState string

const (
	// making: whatever is there of it is made anew.
	making imageState = "making"
	whole  imageState = "whole"
	// trashed: it is deleted, and others are clones of it.
	trashed imageState = "trashed"
)

type rbdSettings struct {
	Conf, Pool, Client, Keyring string
	// Journal is a folder for this very cluster.
	Journal string
}

func openRbd(wanted rbdSettings, rules *rules) (*rbd, error) {
	r := &rbd{
		ceph:       ceph{conf: wanted.Conf, pool: wanted.Pool, client: wanted.Client, keyring: wanted.Keyring},
		journal:    wanted.Journal,
		rules:      rules,
		flattening: map[string]bool{},
	}
	if err := makePrivate(r.record("")); err != nil {
		return nil, err
	}
	go r.sweep()
	return r, nil
}

func (r *rbd) path(volume) (string, error) {
	return "", status.Error(codes.Unimplemented, "no kernel of the lab maps images")
}

func (r *rbd) record(id string) string { return filepath.Join(r.journal, images, id) }

func (r *rbd) find(id string) (*image, error) { return readRecord[image](r.record(id)) }

func (r *rbd) findVolume(id string) (*volume, error) {
	found, err := r.find(id)
	if found == nil || found.State != whole {
		return nil, err
	}
	return found.Volume, nil
}

func (r *rbd) findSnapshot(id string) (*snapshot, error) {
	found, err := r.find(id)
	if found == nil || found.State != whole {
		return nil, err
	}
	return found.Snapshot, nil
}

func (r *rbd) listVolumes() ([]volume, error) {
	return listOf(r, func(of image) *volume { return of.Volume })
}

func (r *rbd) listSnapshots() ([]snapshot, error) {
	return listOf(r, func(of image) *snapshot { return of.Snapshot })
}

func listOf[Kept any](r *rbd, pick func(image) *Kept) ([]Kept, error) {
	all, err := readRecords[image](r.record(""))
	var kept []Kept
	for _, of := range all {
		if picked := pick(of); picked != nil && of.State == whole {
			kept = append(kept, *picked)
		}
	}
	return kept, err
}

func (r *rbd) createVolume(ctx context.Context, wanted volume) error {
	parent, size := wanted.Source.Volume, int64(0)
	if wanted.Source.Snapshot != "" {
		parent = wanted.Source.Snapshot
	}
	if parent != "" {
		of, err := r.find(parent)
		if err != nil {
			return err
		}
		if of.Snapshot != nil {
			size = of.Snapshot.SizeBytes
		} else {
			size = of.Volume.SizeBytes
		}
	}
	return r.make(ctx, wanted.ID, image{Volume: &wanted, Parent: parent}, func() error {
		var err error
		switch {
		case wanted.Source.Snapshot != "":
			err = r.ceph.clone(ctx, parent, base, wanted.ID)
		case wanted.Source.Volume != "":
			err = r.ceph.copyOnWrite(ctx, parent, wanted.ID)
		default:
			return r.ceph.create(ctx, wanted.ID, wanted.SizeBytes)
		}
		if err == nil && wanted.SizeBytes > size {
			err = r.ceph.resize(ctx, wanted.ID, wanted.SizeBytes)
		}
		return err
	})
}

func (r *rbd) createSnapshot(ctx context.Context, wanted snapshot) error {
	return r.make(ctx, wanted.ID, image{Snapshot: &wanted, Parent: wanted.Volume}, func() error {
		if err := r.ceph.copyOnWrite(ctx, wanted.Volume, wanted.ID); err != nil {
			return err
		}
		return r.ceph.createSnapshot(ctx, wanted.ID, base)
	})
}

// make notes what is to be made before it is, and that it is whole afterwards.
func (r *rbd) make(ctx context.Context, id string, wanted image, do func() error) error {
	depth, err := r.depth(wanted)
	if err != nil {
		return err
	}
	if depth > hardDepth {
		r.flatten(wanted.Parent)
		return status.Errorf(codes.Aborted, "%s is a clone of depth %d, and has to be flattened before", wanted.Parent, depth-1)
	}
	there, err := r.find(id)
	if err != nil {
		return err
	}
	if there != nil && there.State == making {
		if err := r.unmake(ctx, id, *there); err != nil {
			return err
		}
	}
	wanted.State = making
	if err := r.write(id, wanted); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	wanted.State = whole
	if err := r.write(id, wanted); err != nil {
		return err
	}
	if depth >= softDepth {
		r.flatten(id)
	}
	return nil
}

// unmake removes whatever is there of an image that did not become whole.
func (r *rbd) unmake(ctx context.Context, id string, of image) error {
	if of.Parent != "" {
		if err := r.ceph.removeSnapshot(ctx, of.Parent, id); err != nil {
			return err
		}
	}
	if of.Snapshot != nil {
		if err := r.ceph.removeSnapshot(ctx, id, base); err != nil {
			return err
		}
	}
	_, err := r.ceph.remove(ctx, id)
	return err
}

func (r *rbd) growVolume(ctx context.Context, grown volume) error {
	if err := r.ceph.resize(ctx, grown.ID, grown.SizeBytes); err != nil {
		return err
	}
	return r.update(grown.ID, func(of *image) { of.Volume = &grown })
}

func (r *rbd) deleteVolume(ctx context.Context, id string) error { return r.delete(ctx, id) }

func (r *rbd) deleteSnapshot(ctx context.Context, id string) error { return r.delete(ctx, id) }

func (r *rbd) delete(ctx context.Context, id string) error {
	of, err := r.find(id)
	if of == nil || of.State == trashed {
		return err
	}
	r.mutex.Lock()
	flattening := r.flattening[id]
	r.mutex.Unlock()
	if flattening {
		return status.Errorf(codes.Aborted, "%s is being flattened", id)
	}
	if of.State == making {
		if err := r.unmake(ctx, id, *of); err != nil {
			return err
		}
		return r.forget(id)
	}
	if of.Snapshot != nil {
		if err := r.ceph.removeSnapshot(ctx, id, base); err != nil {
			return err
		}
	}
	hasClones, err := r.ceph.remove(ctx, id)
	if err != nil {
		return err
	}
	if hasClones {
		if err := r.ceph.trash(ctx, id); err != nil {
			return err
		}
		return r.update(id, func(of *image) { of.State = trashed })
	}
	if err := r.forget(id); err != nil {
		return err
	}
	go r.sweep()
	return nil
}

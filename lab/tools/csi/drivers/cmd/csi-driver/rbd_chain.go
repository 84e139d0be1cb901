package main

import (
	"context"
	"errors"
	"log"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// backgroundTimeout is of what no call waits for.
const backgroundTimeout = 10 * time.Minute

// depth is how many images are read below a clone.
func (r *rbd) depth(of image) (int, error) {
	depth := 0
	for of.Parent != "" {
		parent, err := r.find(of.Parent)
		if err != nil {
			return 0, err
		}
		depth++
		if parent == nil {
			break
		}
		of = *parent
	}
	return depth, nil
}

func (r *rbd) write(id string, of image) error {
	if err := makePrivate(r.record(id)); err != nil {
		return err
	}
	return writeRecord(r.record(id), of)
}

// update changes a record that is there; what is flattened changes at any time.
func (r *rbd) update(id string, change func(*image)) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	of, err := r.find(id)
	if of == nil {
		return err
	}
	change(of)
	return r.write(id, *of)
}

func (r *rbd) forget(id string) error { return os.RemoveAll(r.record(id)) }

// flatten gives an image its own bytes, in the background, one image after the other. A fault of the method Flatten is of this.
func (r *rbd) flatten(id string) {
	r.mutex.Lock()
	already := r.flattening[id]
	r.flattening[id] = true
	r.mutex.Unlock()
	if already {
		return
	}
	go func() {
		r.flattener.Lock()
		defer r.flattener.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), backgroundTimeout)
		defer cancel()
		_, err := r.rules.run(ctx, "Flatten", func() (any, error) { return nil, r.ceph.flatten(ctx, id) })
		if err == nil {
			err = r.update(id, func(of *image) { of.Parent = "" })
		}
		if err != nil {
			log.Printf("%s is not flattened: %v", id, err)
		}
		r.mutex.Lock()
		delete(r.flattening, id)
		r.mutex.Unlock()
		r.sweep()
	}()
}

// sweep removes from the trash what has no clones any more. Removing one may free another.
func (r *rbd) sweep() {
	r.sweeper.Lock()
	defer r.sweeper.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), backgroundTimeout)
	defer cancel()
	for removed := true; removed && r.hasTrash(); {
		removed = false
		trash, err := r.ceph.listTrash(ctx)
		if err != nil {
			log.Printf("the trash cannot be read: %v", err)
		}
		for _, of := range trash {
			hasClones, err := r.ceph.removeTrash(ctx, of.ID)
			if err != nil {
				log.Printf("%s stays in the trash: %v", of.Name, err)
			}
			if err != nil || hasClones {
				continue
			}
			removed = true
			if there, err := r.find(of.Name); err == nil && there != nil && there.State == trashed {
				_ = r.forget(of.Name)
			}
		}
	}
}

func (r *rbd) hasTrash() bool {
	all, err := readRecords[image](r.record(""))
	return err != nil || slices.ContainsFunc(all, func(of image) bool { return of.State == trashed })
}

func makePrivate(dir string) error { return os.MkdirAll(dir, 0o700) }

// asAborted is for what another operation of the same image may cause.
func asAborted(err error) error {
	var failed *cephError
	if errors.As(err, &failed) && failed.exit == exitBusy {
		return status.Error(codes.Aborted, err.Error())
	}
	return err
}

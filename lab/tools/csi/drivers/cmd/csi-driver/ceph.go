package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Exit codes of the command rbd, which are those of errno.
const (
	exitNotFound = 2
	exitBusy     = 16
	exitNotEmpty = 39
)

// ceph runs the command rbd on a pool, as a client whose key is in a file.
type ceph struct{ conf, pool, client, keyring string }

// cephError is what the command complained of.
type cephError struct {
	what string
	exit int
	text string
}

func (e *cephError) Error() string { return fmt.Sprintf("rbd %s: %s", e.what, e.text) }

func (c ceph) run(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "rbd", append([]string{"--id", c.client, "--keyring", c.keyring}, args...)...)
	command.Env = append(os.Environ(), "CEPH_CONF="+c.conf)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return nil, asAborted(&cephError{strings.Join(args[:2], " "), ended.ExitCode(), lines[len(lines)-1]})
	}
	return output, err
}

func (c ceph) image(id string) string { return c.pool + "/" + id }

func (c ceph) snapshot(id, name string) string { return c.image(id) + "@" + name }

func (c ceph) create(ctx context.Context, id string, sizeBytes int64) error {
	_, err := c.run(ctx, "create", c.image(id), "--size", inBytes(sizeBytes), "--image-feature", "layering,deep-flatten")
	return err
}

// clone is of the second version: its parent's snapshot can be removed while it is there.
func (c ceph) clone(ctx context.Context, parent, snapshot, id string) error {
	_, err := c.run(ctx, "clone", c.snapshot(parent, snapshot), c.image(id), "--rbd-default-clone-format", "2", "--image-feature", "layering,deep-flatten")
	return err
}

// copyOnWrite makes a clone of what an image is now.
func (c ceph) copyOnWrite(ctx context.Context, parent, id string) error {
	if err := c.createSnapshot(ctx, parent, id); err != nil {
		return err
	}
	if err := c.clone(ctx, parent, id, id); err != nil {
		return err
	}
	return c.removeSnapshot(ctx, parent, id)
}

func (c ceph) createSnapshot(ctx context.Context, id, name string) error {
	_, err := c.run(ctx, "snap", "create", c.snapshot(id, name), "--no-progress")
	return err
}

// removeSnapshot succeeds where there is none.
func (c ceph) removeSnapshot(ctx context.Context, id, name string) error {
	_, err := c.run(ctx, "snap", "rm", c.snapshot(id, name), "--no-progress")
	_, err = unless(err, exitNotFound)
	return err
}

func (c ceph) resize(ctx context.Context, id string, sizeBytes int64) error {
	_, err := c.run(ctx, "resize", c.image(id), "--size", inBytes(sizeBytes), "--no-progress")
	return err
}

func (c ceph) flatten(ctx context.Context, id string) error {
	_, err := c.run(ctx, "flatten", c.image(id), "--no-progress")
	return err
}

// remove succeeds where there is none.
func (c ceph) remove(ctx context.Context, id string) (hasClones bool, err error) {
	_, err = c.run(ctx, "rm", c.image(id), "--no-progress")
	if _, err = unless(err, exitNotFound); err == nil {
		return false, nil
	}
	return unless(err, exitNotEmpty)
}

func (c ceph) trash(ctx context.Context, id string) error {
	_, err := c.run(ctx, "trash", "mv", c.image(id))
	return err
}

type trashedImage struct{ ID, Name string }

func (c ceph) listTrash(ctx context.Context) ([]trashedImage, error) {
	output, err := c.run(ctx, "trash", "ls", c.pool, "--format", "json")
	if err != nil {
		return nil, err
	}
	var all []trashedImage
	return all, json.Unmarshal(output, &all)
}

func (c ceph) removeTrash(ctx context.Context, id string) (hasClones bool, err error) {
	_, err = c.run(ctx, "trash", "rm", c.image(id), "--no-progress")
	if _, err = unless(err, exitNotFound); err == nil {
		return false, nil
	}
	return unless(err, exitNotEmpty)
}

// unless takes an exit code for an answer.
func unless(err error, exit int) (bool, error) {
	var failed *cephError
	if errors.As(err, &failed) && failed.exit == exit {
		return true, nil
	}
	return false, err
}

func inBytes(size int64) string { return strconv.FormatInt(size, 10) + "B" }

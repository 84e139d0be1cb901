package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	defaultSizeBytes = 1 << 20
	maxSizeBytes     = 1 << 40
	maxIDBytes       = 128
)

// controller is the service that sidecars call: what the specification says of repeated, conflicting and wrong calls.
type controller struct {
	csi.UnimplementedControllerServer
	store store
	locks *locks
}

// idOf is the same for the same name, so that a call that is repeated finds what the first one made.
func idOf(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:12])
}

// isID says whether we can have given that id.
func isID(id string) bool {
	return id != "" && len(id) <= maxIDBytes && filepath.Base(id) == id && !strings.HasPrefix(id, ".")
}

func (c *controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	answer := &csi.ControllerGetCapabilitiesResponse{}
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_SNAPSHOT,
		csi.ControllerServiceCapability_RPC_CLONE_VOLUME,
		csi.ControllerServiceCapability_RPC_EXPAND_VOLUME,
		csi.ControllerServiceCapability_RPC_LIST_VOLUMES,
		csi.ControllerServiceCapability_RPC_LIST_SNAPSHOTS,
		csi.ControllerServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	} {
		answer.Capabilities = append(answer.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: kind}},
		})
	}
	return answer, nil
}

func (c *controller) CreateVolume(ctx context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if request.GetName() == "" {
		return nil, status.Error(codes.InvalidArgument, "the volume has no name")
	}
	block, err := isBlock(request.GetVolumeCapabilities())
	if err != nil {
		return nil, err
	}
	wanted := volume{ID: idOf("vol-", request.GetName()), Block: block, Created: time.Now()}
	from := []string{}
	content := request.GetVolumeContentSource()
	switch {
	case content.GetSnapshot() != nil:
		wanted.Source.Snapshot = content.GetSnapshot().GetSnapshotId()
		from = append(from, wanted.Source.Snapshot)
	case content.GetVolume() != nil:
		wanted.Source.Volume = content.GetVolume().GetVolumeId()
		from = append(from, wanted.Source.Volume)
	case content != nil:
		return nil, status.Error(codes.InvalidArgument, "the source is neither a snapshot nor a volume")
	}
	free := c.locks.take(wanted.ID, from...)
	if free == nil {
		return nil, inWork(wanted.ID, from...)
	}
	defer free()

	limits := request.GetCapacityRange()
	there, err := c.store.findVolume(wanted.ID)
	if err != nil {
		return nil, err
	}
	if there != nil {
		if there.Source != wanted.Source || there.Block != block || !isWithin(there.SizeBytes, limits) {
			return nil, status.Errorf(codes.AlreadyExists, "%s is there already, and is another one", request.GetName())
		}
		return &csi.CreateVolumeResponse{Volume: describeVolume(*there, content)}, nil
	}
	least, err := c.checkSource(wanted)
	if err != nil {
		return nil, err
	}
	if wanted.SizeBytes = limits.GetRequiredBytes(); wanted.SizeBytes == 0 {
		wanted.SizeBytes = max(least, defaultSizeBytes)
	}
	if wanted.SizeBytes < least {
		return nil, status.Errorf(codes.OutOfRange, "the source has %d bytes, which is more than %d", least, wanted.SizeBytes)
	}
	if wanted.SizeBytes > maxSizeBytes || !isWithin(wanted.SizeBytes, limits) {
		return nil, status.Errorf(codes.OutOfRange, "%d bytes are more than there may be", wanted.SizeBytes)
	}
	if err := c.store.createVolume(ctx, wanted); err != nil {
		return nil, err
	}
	return &csi.CreateVolumeResponse{Volume: describeVolume(wanted, content)}, nil
}

// checkSource returns the size that a volume has to have at least.
func (c *controller) checkSource(wanted volume) (int64, error) {
	var size int64
	var block bool
	switch id := wanted.Source; {
	case id.Snapshot != "":
		of, err := c.findSnapshot(id.Snapshot)
		if err != nil {
			return 0, err
		}
		size, block = of.SizeBytes, of.Block
	case id.Volume != "":
		of, err := c.findVolume(id.Volume)
		if err != nil {
			return 0, err
		}
		size, block = of.SizeBytes, of.Block
	default:
		return 0, nil
	}
	if block != wanted.Block {
		return 0, status.Error(codes.InvalidArgument, "a file system cannot be made of a block device, nor the other way")
	}
	return size, nil
}

func (c *controller) DeleteVolume(ctx context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	err := c.remove(request.GetVolumeId(), func(id string) error { return c.store.deleteVolume(ctx, id) })
	return &csi.DeleteVolumeResponse{}, err
}

func (c *controller) DeleteSnapshot(ctx context.Context, request *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	err := c.remove(request.GetSnapshotId(), func(id string) error { return c.store.deleteSnapshot(ctx, id) })
	return &csi.DeleteSnapshotResponse{}, err
}

func (c *controller) remove(id string, do func(id string) error) error {
	if id == "" {
		return status.Error(codes.InvalidArgument, "there is no id")
	}
	if !isID(id) {
		return nil
	}
	free := c.locks.take(id)
	if free == nil {
		return inWork(id)
	}
	defer free()
	return do(id)
}

func (c *controller) ControllerExpandVolume(ctx context.Context, request *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	limits := request.GetCapacityRange()
	if request.GetVolumeId() == "" || limits == nil {
		return nil, status.Error(codes.InvalidArgument, "there is no id, or no capacity")
	}
	free := c.locks.take(request.GetVolumeId())
	if free == nil {
		return nil, inWork(request.GetVolumeId())
	}
	defer free()
	of, err := c.findVolume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	size := max(of.SizeBytes, limits.GetRequiredBytes())
	if size > maxSizeBytes || !isWithin(size, limits) {
		return nil, status.Errorf(codes.OutOfRange, "%d bytes are more than there may be", size)
	}
	if size > of.SizeBytes {
		of.SizeBytes = size
		if err := c.store.growVolume(ctx, *of); err != nil {
			return nil, err
		}
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: size}, nil
}

func (c *controller) ValidateVolumeCapabilities(_ context.Context, request *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	block, err := isBlock(request.GetVolumeCapabilities())
	if err != nil {
		return nil, err
	}
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "there is no id")
	}
	of, err := c.findVolume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	if of.Block != block {
		return &csi.ValidateVolumeCapabilitiesResponse{Message: "the volume has the other mode"}, nil
	}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeContext:      request.GetVolumeContext(),
		VolumeCapabilities: request.GetVolumeCapabilities(),
		Parameters:         request.GetParameters(),
	}}, nil
}

func (c *controller) CreateSnapshot(ctx context.Context, request *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	if request.GetName() == "" || request.GetSourceVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "the snapshot has no name, or no volume")
	}
	wanted := snapshot{ID: idOf("snap-", request.GetName()), Volume: request.GetSourceVolumeId(), Created: time.Now()}
	free := c.locks.take(wanted.ID, wanted.Volume)
	if free == nil {
		return nil, inWork(wanted.ID, wanted.Volume)
	}
	defer free()
	there, err := c.store.findSnapshot(wanted.ID)
	if err != nil {
		return nil, err
	}
	if there != nil {
		if there.Volume != wanted.Volume {
			return nil, status.Errorf(codes.AlreadyExists, "%s is there already, and is of another volume", request.GetName())
		}
		return &csi.CreateSnapshotResponse{Snapshot: describeSnapshot(*there)}, nil
	}
	of, err := c.findVolume(wanted.Volume)
	if err != nil {
		return nil, err
	}
	wanted.SizeBytes, wanted.Block = of.SizeBytes, of.Block
	if err := c.store.createSnapshot(ctx, wanted); err != nil {
		return nil, err
	}
	return &csi.CreateSnapshotResponse{Snapshot: describeSnapshot(wanted)}, nil
}

func (c *controller) ListVolumes(_ context.Context, request *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	all, err := c.store.listVolumes()
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(all, func(v volume) string { return orderOf(v.Created, v.ID) }, request.GetStartingToken(), request.GetMaxEntries())
	if err != nil {
		return nil, err
	}
	answer := &csi.ListVolumesResponse{NextToken: next}
	for _, of := range page {
		answer.Entries = append(answer.Entries, &csi.ListVolumesResponse_Entry{Volume: describeVolume(of, nil)})
	}
	return answer, nil
}

func (c *controller) ListSnapshots(_ context.Context, request *csi.ListSnapshotsRequest) (*csi.ListSnapshotsResponse, error) {
	all, err := c.store.listSnapshots()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s snapshot) bool {
		return request.GetSnapshotId() != "" && s.ID != request.GetSnapshotId() ||
			request.GetSourceVolumeId() != "" && s.Volume != request.GetSourceVolumeId()
	})
	page, next, err := pageOf(all, func(s snapshot) string { return orderOf(s.Created, s.ID) }, request.GetStartingToken(), request.GetMaxEntries())
	if err != nil {
		return nil, err
	}
	answer := &csi.ListSnapshotsResponse{NextToken: next}
	for _, of := range page {
		answer.Entries = append(answer.Entries, &csi.ListSnapshotsResponse_Entry{Snapshot: describeSnapshot(of)})
	}
	return answer, nil
}

func (c *controller) findVolume(id string) (*volume, error) {
	return found(id, "volume", c.store.findVolume)
}

func (c *controller) findSnapshot(id string) (*snapshot, error) {
	return found(id, "snapshot", c.store.findSnapshot)
}

func found[Kept any](id, kind string, find func(id string) (*Kept, error)) (*Kept, error) {
	if isID(id) {
		if of, err := find(id); of != nil || err != nil {
			return of, err
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no %s %q", kind, id)
}

func inWork(id string, others ...string) error {
	return status.Errorf(codes.Aborted, "there is an operation on %s already", strings.Join(append(others, id), " or "))
}

func isBlock(capabilities []*csi.VolumeCapability) (bool, error) {
	if len(capabilities) == 0 {
		return false, status.Error(codes.InvalidArgument, "there are no capabilities")
	}
	block := capabilities[0].GetBlock() != nil
	for _, of := range capabilities {
		if (of.GetBlock() != nil) != block {
			return false, status.Error(codes.InvalidArgument, "a volume is a block device or a file system, not both")
		}
	}
	return block, nil
}

func isWithin(size int64, limits *csi.CapacityRange) bool {
	return size >= limits.GetRequiredBytes() && (limits.GetLimitBytes() == 0 || size <= limits.GetLimitBytes())
}

func describeVolume(of volume, content *csi.VolumeContentSource) *csi.Volume {
	return &csi.Volume{VolumeId: of.ID, CapacityBytes: of.SizeBytes, ContentSource: content}
}

func describeSnapshot(of snapshot) *csi.Snapshot {
	return &csi.Snapshot{
		SnapshotId: of.ID, SourceVolumeId: of.Volume, SizeBytes: of.SizeBytes,
		CreationTime: timestamppb.New(of.Created), ReadyToUse: true,
	}
}

// orderOf puts what came last at the end, so that no page misses what was there when the first one was read.
func orderOf(created time.Time, id string) string {
	return strconv.FormatInt(created.UnixNano(), 10) + "/" + id
}

// pageOf takes what follows after the token, which is the place of the last one of the page before, whether that is still there or not.
func pageOf[Kept any](all []Kept, order func(Kept) string, token string, most int32) (page []Kept, next string, err error) {
	if created, _, ok := strings.Cut(token, "/"); token != "" {
		if _, err := strconv.ParseInt(created, 10, 64); err != nil || !ok {
			return nil, "", status.Errorf(codes.Aborted, "%q is no token of ours", token)
		}
	}
	for _, of := range all {
		if order(of) > token {
			page = append(page, of)
		}
	}
	slices.SortFunc(page, func(a, b Kept) int { return strings.Compare(order(a), order(b)) })
	if most > 0 && int(most) < len(page) {
		page = page[:most]
		next = order(page[most-1])
	}
	return page, next, nil
}

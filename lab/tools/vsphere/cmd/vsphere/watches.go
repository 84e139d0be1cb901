package main

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// watches answers in place of a property collector that watches all VMs below some folders. The simulator reads every one of them with each
// change of any; a vCenter, and this, reads what has changed.
type watches struct {
	mo.ExtensibleManagedObject
	mutex sync.Mutex
	of    map[types.ManagedObjectReference]*watch
}

// watch is one collector with its filter.
type watch struct {
	spec    types.PropertyFilterSpec
	filter  types.ManagedObjectReference
	roots   map[types.ManagedObjectReference]bool
	known   map[types.ManagedObjectReference]bool
	version int
	// pending does not fit into the last answer.
	pending []types.ObjectUpdate
	askedAt time.Time

	// changed are the names of properties by VM, since they were reported. Guarded by the mutex of watches, as isMoved.
	changed map[types.ManagedObjectReference]map[string]bool
	// isMoved says that a folder has another parent: any VM may have come or gone.
	isMoved bool
}

const (
	mostUpdates = 100
	// collects changes that come together, as in the simulator.
	betweenReads = 20 * time.Millisecond
	// forgotten is a watch that has ended with its session.
	forgotten = time.Minute
)

func putWatches(registry *simulator.Registry) *watches {
	object := &watches{of: map[types.ManagedObjectReference]*watch{}}
	object.Self = types.ManagedObjectReference{Type: "StandIn", Value: "watches"}
	registry.Put(object)
	registry.AddHandler(object)
	return object
}

// Lock and Unlock do nothing: a call that waits keeps no other from its own.
func (*watches) Lock()   {}
func (*watches) Unlock() {}

// answers says whether the call is for one of these collectors, or makes one.
func (w *watches) answers(ctx *simulator.Context, method *simulator.Method) bool {
	if ctx.Session == nil {
		return false
	}
	if _, isThere := ctx.Session.Get(method.This).(*simulator.PropertyCollector); !isThere {
		return false
	}
	if request, ok := method.Body.(*types.CreateFilter); ok {
		return len(request.Spec.PropSet) == 1 && request.Spec.PropSet[0].Type == "VirtualMachine" && areFolders(request.Spec.ObjectSet)
	}
	return w.find(method.This) != nil
}

func areFolders(set []types.ObjectSpec) bool {
	for _, object := range set {
		if object.Obj.Type != "Folder" || len(object.SelectSet) == 0 {
			return false
		}
	}
	return len(set) > 0
}

func (w *watches) find(collector types.ManagedObjectReference) *watch {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.of[collector]
}

func (w *watches) CreateFilter(ctx *simulator.Context, request *types.CreateFilter) soap.HasFault {
	filter := types.ManagedObjectReference{Type: "PropertyFilter", Value: request.This.Value + "-filter"}
	made := &watch{
		spec: request.Spec, filter: filter, askedAt: time.Now(),
		roots:   map[types.ManagedObjectReference]bool{},
		known:   map[types.ManagedObjectReference]bool{},
		changed: map[types.ManagedObjectReference]map[string]bool{},
	}
	for _, object := range request.Spec.ObjectSet {
		made.roots[object.Obj] = true
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for collector, one := range w.of {
		if time.Since(one.askedAt) > forgotten {
			delete(w.of, collector)
		}
	}
	w.of[request.This] = made
	return &methods.CreateFilterBody{Res: &types.CreateFilterResponse{Returnval: filter}}
}

func (w *watches) WaitForUpdatesEx(ctx *simulator.Context, request *types.WaitForUpdatesEx) soap.HasFault {
	one := w.find(request.This)
	var end <-chan time.Time
	if options := request.Options; options != nil && options.MaxWaitSeconds != nil {
		end = time.After(time.Duration(*options.MaxWaitSeconds) * time.Second)
	}
	ticker := time.NewTicker(betweenReads)
	defer ticker.Stop()
	body := &methods.WaitForUpdatesExBody{Res: &types.WaitForUpdatesExResponse{}}
	if request.Version == "" {
		fault := one.readAll(ctx, request.This)
		if fault != nil {
			return &methods.WaitForUpdatesExBody{Fault_: simulator.Fault("", fault)}
		}
		body.Res.Returnval = one.page(true)
		return body
	}
	for {
		w.take(one, ctx, request.This)
		if set := one.page(false); set != nil {
			body.Res.Returnval = set
			return body
		}
		select {
		case <-end:
			return body
		case <-ticker.C:
		}
	}
}

// take adds what has changed to what is pending.
func (w *watches) take(one *watch, ctx *simulator.Context, collector types.ManagedObjectReference) {
	w.mutex.Lock()
	changed, isMoved := one.changed, one.isMoved
	one.changed, one.isMoved, one.askedAt = map[types.ManagedObjectReference]map[string]bool{}, false, time.Now()
	w.mutex.Unlock()
	if isMoved {
		for _, vm := range ctx.Map.AllReference("VirtualMachine") {
			if changed[vm.Reference()] == nil {
				changed[vm.Reference()] = map[string]bool{}
			}
		}
	}
	for vm, names := range changed {
		isKnown, isBelow := one.known[vm], one.isBelow(ctx, vm)
		switch {
		case isBelow && isKnown && len(names) > 0:
			if changes, isThere := one.read(ctx, collector, vm, names); isThere && len(changes) > 0 {
				one.pending = append(one.pending, types.ObjectUpdate{Obj: vm, Kind: types.ObjectUpdateKindModify, ChangeSet: changes})
			}
		case isBelow && !isKnown:
			if changes, isThere := one.read(ctx, collector, vm, nil); isThere {
				one.known[vm] = true
				one.pending = append(one.pending, types.ObjectUpdate{Obj: vm, Kind: types.ObjectUpdateKindEnter, ChangeSet: changes})
			}
		case !isBelow && isKnown:
			delete(one.known, vm)
			one.pending = append(one.pending, types.ObjectUpdate{Obj: vm, Kind: types.ObjectUpdateKindLeave})
		}
	}
}

// isBelow follows the parents of a VM up to a folder that is watched.
func (one *watch) isBelow(ctx *simulator.Context, vm types.ManagedObjectReference) bool {
	for at := vm; !one.roots[at]; {
		entity, ok := ctx.Map.Get(at).(mo.Entity)
		if !ok {
			return false
		}
		var parent *types.ManagedObjectReference
		ctx.WithLock(at, func() { parent = entity.Entity().Parent })
		if parent == nil {
			return false
		}
		at = *parent
	}
	return true
}

func (one *watch) readAll(ctx *simulator.Context, collector types.ManagedObjectReference) types.BaseMethodFault {
	objects, fault := one.retrieve(ctx, collector, one.spec)
	for _, object := range objects {
		one.known[object.Obj] = true
		one.pending = append(one.pending, types.ObjectUpdate{Obj: object.Obj, Kind: types.ObjectUpdateKindEnter, ChangeSet: assign(object)})
	}
	return fault
}

// read gives the properties that one of the names concerns, all where names is nil; and whether the VM is there.
func (one *watch) read(
	ctx *simulator.Context, collector types.ManagedObjectReference, vm types.ManagedObjectReference, names map[string]bool,
) ([]types.PropertyChange, bool) {
	paths := one.spec.PropSet[0].PathSet
	if names != nil {
		paths = nil
		for _, path := range one.spec.PropSet[0].PathSet {
			if concerns(names, path) {
				paths = append(paths, path)
			}
		}
		if len(paths) == 0 {
			return nil, true
		}
	}
	objects, fault := one.retrieve(ctx, collector, types.PropertyFilterSpec{
		PropSet:   []types.PropertySpec{{Type: "VirtualMachine", PathSet: paths}},
		ObjectSet: []types.ObjectSpec{{Obj: vm}},
	})
	if fault != nil || len(objects) == 0 {
		return nil, false // Gone meanwhile.
	}
	changes := assign(objects[0])
	for _, path := range paths {
		if names != nil && !has(changes, path) {
			changes = append(changes, types.PropertyChange{Op: types.PropertyChangeOpAssign, Name: path})
		}
	}
	return changes, true
}

func (one *watch) retrieve(
	ctx *simulator.Context, collector types.ManagedObjectReference, spec types.PropertyFilterSpec,
) ([]types.ObjectContent, types.BaseMethodFault) {
	reader := ctx.Session.Get(collector).(*simulator.PropertyCollector)
	answer := reader.RetrievePropertiesEx(ctx, &types.RetrievePropertiesEx{
		This: collector, SpecSet: []types.PropertyFilterSpec{spec},
	}).(*methods.RetrievePropertiesExBody)
	if answer.Fault_ != nil {
		return nil, answer.Fault_.VimFault().(types.BaseMethodFault)
	}
	return answer.Res.Returnval.Objects, nil
}

func assign(object types.ObjectContent) []types.PropertyChange {
	var changes []types.PropertyChange
	for _, property := range object.PropSet {
		changes = append(changes, types.PropertyChange{Op: types.PropertyChangeOpAssign, Name: property.Name, Val: property.Val})
	}
	return changes
}

func has(changes []types.PropertyChange, name string) bool {
	for _, change := range changes {
		if change.Name == name {
			return true
		}
	}
	return false
}

// concerns says whether one of the names is the path, part of it, or what it is part of.
func concerns(names map[string]bool, path string) bool {
	for name := range names {
		if name == path || isPartOf(name, path) || isPartOf(path, name) {
			return true
		}
	}
	return false
}

func isPartOf(part, whole string) bool {
	rest, found := strings.CutPrefix(part, whole)
	return found && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
}

// page takes as many updates as one answer holds. An empty answer is none, but for the first.
func (one *watch) page(isFirst bool) *types.UpdateSet {
	if len(one.pending) == 0 && !isFirst {
		return nil
	}
	count := min(len(one.pending), mostUpdates)
	updates := one.pending[:count:count]
	one.pending = one.pending[count:]
	one.version++
	set := &types.UpdateSet{Version: strconv.Itoa(one.version)}
	if len(updates) > 0 {
		set.FilterSet = []types.PropertyFilterUpdate{{Filter: one.filter, ObjectSet: updates}}
	}
	if len(one.pending) > 0 {
		set.Truncated = types.NewBool(true)
	}
	return set
}

func (w *watches) PutObject(_ *simulator.Context, object mo.Reference) {
	w.note(object.Reference(), nil)
}

func (w *watches) UpdateObject(_ *simulator.Context, object mo.Reference, changes []types.PropertyChange) {
	w.note(object.Reference(), changes)
}

func (w *watches) RemoveObject(_ *simulator.Context, object types.ManagedObjectReference) {
	w.note(object, nil)
}

func (w *watches) note(object types.ManagedObjectReference, changes []types.PropertyChange) {
	if object.Type != "VirtualMachine" && object.Type != "Folder" {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, one := range w.of {
		if object.Type == "Folder" {
			// What is in it are VMs and folders, which are noted themselves.
			one.isMoved = one.isMoved || len(changes) == 0 || concernsParent(changes)
			continue
		}
		if one.changed[object] == nil {
			one.changed[object] = map[string]bool{}
		}
		for _, change := range changes {
			one.changed[object][change.Name] = true
		}
	}
}

func concernsParent(changes []types.PropertyChange) bool {
	for _, change := range changes {
		if change.Name == "parent" {
			return true
		}
	}
	return false
}

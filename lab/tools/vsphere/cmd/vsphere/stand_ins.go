package main

import (
	"strconv"
	"sync/atomic"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

var standIns atomic.Int64

// standIn lets another object answer. The object that a handler gives back would not do: that of the session is preferred.
func standIn(ctx *simulator.Context, method *simulator.Method, object mo.Reference, self *types.ManagedObjectReference) {
	*self = types.ManagedObjectReference{Type: "StandIn", Value: "stand-in-" + strconv.FormatInt(standIns.Add(1), 10)}
	method.This = *self
	ctx.Map.Put(object)
}

// failingTask stands in for an object during one call: the task begins, and ends with the fault.
type failingTask struct {
	mo.ExtensibleManagedObject
	of    types.ManagedObjectReference
	fault types.BaseMethodFault
}

func failTask(ctx *simulator.Context, method *simulator.Method, fault types.BaseMethodFault) {
	object := &failingTask{of: method.This, fault: fault}
	standIn(ctx, method, object, &object.Self)
}

func (f *failingTask) run(ctx *simulator.Context, name string) types.ManagedObjectReference {
	return simulator.CreateTask(f.of, name, func(*simulator.Task) (types.AnyType, types.BaseMethodFault) { return nil, f.fault }).Run(ctx)
}

func (f *failingTask) CreateVMTask(ctx *simulator.Context, _ *types.CreateVM_Task) soap.HasFault {
	return &methods.CreateVM_TaskBody{Res: &types.CreateVM_TaskResponse{Returnval: f.run(ctx, "createVm")}}
}

func (f *failingTask) CloneVMTask(ctx *simulator.Context, _ *types.CloneVM_Task) soap.HasFault {
	return &methods.CloneVM_TaskBody{Res: &types.CloneVM_TaskResponse{Returnval: f.run(ctx, "cloneVm")}}
}

func (f *failingTask) ReconfigVMTask(ctx *simulator.Context, _ *types.ReconfigVM_Task) soap.HasFault {
	return &methods.ReconfigVM_TaskBody{Res: &types.ReconfigVM_TaskResponse{Returnval: f.run(ctx, "reconfigVm")}}
}

func (f *failingTask) PowerOnVMTask(ctx *simulator.Context, _ *types.PowerOnVM_Task) soap.HasFault {
	return &methods.PowerOnVM_TaskBody{Res: &types.PowerOnVM_TaskResponse{Returnval: f.run(ctx, "powerOn")}}
}

func (f *failingTask) PowerOffVMTask(ctx *simulator.Context, _ *types.PowerOffVM_Task) soap.HasFault {
	return &methods.PowerOffVM_TaskBody{Res: &types.PowerOffVM_TaskResponse{Returnval: f.run(ctx, "powerOff")}}
}

func (f *failingTask) SuspendVMTask(ctx *simulator.Context, _ *types.SuspendVM_Task) soap.HasFault {
	return &methods.SuspendVM_TaskBody{Res: &types.SuspendVM_TaskResponse{Returnval: f.run(ctx, "suspend")}}
}

func (f *failingTask) ResetVMTask(ctx *simulator.Context, _ *types.ResetVM_Task) soap.HasFault {
	return &methods.ResetVM_TaskBody{Res: &types.ResetVM_TaskResponse{Returnval: f.run(ctx, "reset")}}
}

func (f *failingTask) DestroyTask(ctx *simulator.Context, _ *types.Destroy_Task) soap.HasFault {
	return &methods.Destroy_TaskBody{Res: &types.Destroy_TaskResponse{Returnval: f.run(ctx, "destroy")}}
}

// deafGuest takes what it is asked and does nothing, as a guest that hangs.
type deafGuest struct{ mo.ExtensibleManagedObject }

func deafen(ctx *simulator.Context, method *simulator.Method) {
	object := &deafGuest{}
	standIn(ctx, method, object, &object.Self)
}

func (*deafGuest) ShutdownGuest(*simulator.Context, *types.ShutdownGuest) soap.HasFault {
	return &methods.ShutdownGuestBody{Res: &types.ShutdownGuestResponse{}}
}

func (*deafGuest) RebootGuest(*simulator.Context, *types.RebootGuest) soap.HasFault {
	return &methods.RebootGuestBody{Res: &types.RebootGuestResponse{}}
}

func (*deafGuest) StandbyGuest(*simulator.Context, *types.StandbyGuest) soap.HasFault {
	return &methods.StandbyGuestBody{Res: &types.StandbyGuestResponse{}}
}

// lateCancel takes a cancel that comes too late: the task goes on, and ends well. The simulator's own says that it has failed, and makes
// the VM all the same, which no vCenter does.
type lateCancel struct{ mo.ExtensibleManagedObject }

func cancelLate(ctx *simulator.Context, method *simulator.Method) {
	object := &lateCancel{}
	standIn(ctx, method, object, &object.Self)
}

func (*lateCancel) CancelTask(*simulator.Context, *types.CancelTask) soap.HasFault {
	return &methods.CancelTaskBody{Res: &types.CancelTaskResponse{}}
}

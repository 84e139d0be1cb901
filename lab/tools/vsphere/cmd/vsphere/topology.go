package main

import (
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

// keepTopology keeps what a change says of NUMA nodes and of threads: the simulator takes it and shows nothing.
func keepTopology(ctx *simulator.Context, method *simulator.Method) {
	request, ok := method.Body.(*types.ReconfigVM_Task)
	if !ok {
		return
	}
	vm, ok := ctx.Map.Get(method.This).(*simulator.VirtualMachine)
	if !ok || vm.Config == nil {
		return
	}
	ctx.Map.WithLock(ctx, vm.Reference(), func() {
		if numa := request.Spec.VirtualNuma; numa != nil && numa.CoresPerNumaNode != nil {
			isAuto := *numa.CoresPerNumaNode == 0
			vm.Config.NumaInfo = &types.VirtualMachineVirtualNumaInfo{CoresPerNumaNode: numa.CoresPerNumaNode, AutoCoresPerNumaNode: &isAuto}
		}
		if request.Spec.SimultaneousThreads != 0 {
			vm.Config.Hardware.SimultaneousThreads = request.Spec.SimultaneousThreads
		}
	})
}

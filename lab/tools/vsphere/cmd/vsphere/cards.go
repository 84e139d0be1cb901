package main

import (
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

// firstCardKey is the device key of the first network card of a VM.
const firstCardKey = 4000

// numberCards gives network cards that are added their keys as a vCenter does, where the simulator takes any that is
// free: clients find the settings of a card in ExtraConfig by its key.
func numberCards(ctx *simulator.Context, method *simulator.Method) {
	changes := deviceChanges(method)
	if len(changes) == 0 {
		return
	}
	taken := map[int32]bool{}
	// That which is changed; or which is cloned, as the clone has its cards.
	if vm, ok := ctx.Map.Get(method.This).(*simulator.VirtualMachine); ok && vm.Config != nil {
		ctx.WithLock(vm, func() {
			for _, device := range vm.Config.Hardware.Device {
				taken[device.GetVirtualDevice().Key] = true
			}
		})
	}
	key := int32(firstCardKey)
	for _, change := range changes {
		spec := change.GetVirtualDeviceConfigSpec()
		device, isCard := spec.Device.(types.BaseVirtualEthernetCard)
		if !isCard || spec.Operation != types.VirtualDeviceConfigSpecOperationAdd {
			continue
		}
		if card := device.GetVirtualEthernetCard(); card.Key <= 0 {
			for taken[key] {
				key++
			}
			card.Key, taken[key] = key, true
		}
	}
}

func deviceChanges(method *simulator.Method) []types.BaseVirtualDeviceConfigSpec {
	switch request := method.Body.(type) {
	case *types.CreateVM_Task:
		return request.Config.DeviceChange
	case *types.CloneVM_Task:
		if request.Spec.Config != nil {
			return request.Spec.Config.DeviceChange
		}
	case *types.ReconfigVM_Task:
		return request.Spec.DeviceChange
	}
	return nil
}

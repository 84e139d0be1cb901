package main

import (
	"sync"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// rules stand before every method: what a real vCenter refuses and the simulator lets through, and what a test asked for.
type rules struct {
	mutex     sync.Mutex
	password  string
	taskFault []taskFault
	deaf      bool
	names     *nameClaims
	watches   *watches
}

// taskFault lets a task of that method begin and end with the fault, as a server that runs out of something does.
type taskFault struct {
	method string
	fault  types.BaseMethodFault
	count  int
}

func newRules(password string) *rules { return &rules{password: password, names: newNameClaims()} }

func (r *rules) reset(password string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.taskFault, r.deaf, r.password = nil, false, password
}

func (r *rules) isValidLogin(username string) func(*types.Login) bool {
	return func(login *types.Login) bool {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		return login.UserName == username && login.Password == r.password
	}
}

// handle gives the fault that is the answer, if one is; or makes another object answer.
func (r *rules) handle(ctx *simulator.Context, method *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	numberCards(ctx, method)
	switch method.Name {
	case "CreateFilter", "WaitForUpdatesEx":
		if r.watches.answers(ctx, method) {
			method.This = r.watches.Self
		}
	case "FindChild", "FindByInventoryPath":
		method.This = patientSearchRef
	case "ReconfigVM_Task":
		if isStale(ctx, method) {
			failTask(ctx, method, &types.ConcurrentAccess{})
			return nil, nil
		}
		keepTopology(ctx, method)
	case "CancelTask":
		if task, ok := ctx.Map.Get(method.This).(*simulator.Task); ok && isUnderWay(task) {
			cancelLate(ctx, method)
		}
	case "ShutdownGuest", "RebootGuest", "StandbyGuest":
		if vm, ok := ctx.Map.Get(method.This).(*simulator.VirtualMachine); ok && isOnWithoutTools(vm) {
			return nil, &types.ToolsUnavailable{}
		}
		if r.isDeaf() {
			deafen(ctx, method)
		}
	}
	if fault := r.takeTaskFault(method.Name); fault != nil {
		failTask(ctx, method, fault)
	} else if method.Name == "CreateVM_Task" {
		r.names.claim(ctx, method)
	}
	return nil, nil
}

// isStale returns whether the caller read the VM before its last change, which the simulator does not check.
func isStale(ctx *simulator.Context, method *simulator.Method) bool {
	request, ok := method.Body.(*types.ReconfigVM_Task)
	if !ok || request.Spec.ChangeVersion == "" {
		return false
	}
	vm, ok := ctx.Map.Get(method.This).(*simulator.VirtualMachine)
	return ok && vm.Config.ChangeVersion != request.Spec.ChangeVersion
}

func isUnderWay(task *simulator.Task) bool {
	return task.Info.State == types.TaskInfoStateQueued || task.Info.State == types.TaskInfoStateRunning
}

func isOnWithoutTools(vm *simulator.VirtualMachine) bool {
	isOn := vm.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn
	return isOn && (vm.Guest == nil || vm.Guest.ToolsRunningStatus != string(types.VirtualMachineToolsRunningStatusGuestToolsRunning))
}

func (r *rules) isDeaf() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.deaf
}

func (r *rules) takeTaskFault(method string) types.BaseMethodFault {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i := range r.taskFault {
		if rule := &r.taskFault[i]; rule.method == method && rule.count > 0 {
			rule.count--
			return rule.fault
		}
	}
	return nil
}

package main

import (
	"sync"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// nameClaims are the names of VMs that are being created. The simulator makes any number of VMs of one name in a folder, of which a vCenter
// makes one.
type nameClaims struct {
	mutex  sync.Mutex
	claims map[string]bool
}

func newNameClaims() *nameClaims { return &nameClaims{claims: map[string]bool{}} }

// claim lets the create end with a fault where the name is taken; else it is taken until the create has ended, when the folder shows it.
func (n *nameClaims) claim(ctx *simulator.Context, method *simulator.Method) {
	request, ok := method.Body.(*types.CreateVM_Task)
	folder, isFolder := ctx.Map.Get(method.This).(*simulator.Folder)
	if !ok || !isFolder {
		return
	}
	name := request.Config.Name
	key := method.This.Value + "/" + name
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.claims[key] || hasChild(ctx, folder, name) {
		failTask(ctx, method, &types.DuplicateName{Name: name, Object: method.This})
		return
	}
	n.claims[key] = true
	object := &claimedName{folder: folder, release: func() {
		n.mutex.Lock()
		defer n.mutex.Unlock()
		delete(n.claims, key)
	}}
	standIn(ctx, method, object, &object.Self)
}

func hasChild(ctx *simulator.Context, folder *simulator.Folder, name string) bool {
	found := false
	ctx.WithLock(folder, func() {
		for _, ref := range folder.ChildEntity {
			if entity, ok := ctx.Map.Get(ref).(mo.Entity); ok && entity.Entity().Name == name {
				found = true
			}
		}
	})
	return found
}

// claimedName stands in for a folder during one create.
type claimedName struct {
	mo.ExtensibleManagedObject
	folder  *simulator.Folder
	release func()
}

func (c *claimedName) CreateVMTask(ctx *simulator.Context, request *types.CreateVM_Task) soap.HasFault {
	request.This = c.folder.Self
	answer := c.folder.CreateVMTask(ctx, request)
	body, ok := answer.(*methods.CreateVM_TaskBody)
	if !ok || body.Res == nil {
		c.release()
		return answer
	}
	if task, ok := ctx.Map.Get(body.Res.Returnval).(*simulator.Task); ok {
		go func() {
			task.Wait()
			c.release()
		}()
	}
	return answer
}

package main

import (
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// patientSearch replaces the SearchIndex where it searches for names. A VM that is being made is in its folder before it has a name, and
// there the simulator panics with the SearchIndex locked: no search would return any more.
type patientSearch struct{ mo.SearchIndex }

// longestNameless is far beyond what a VM takes to get its name.
const longestNameless = 5 * time.Second

var patientSearchRef = types.ManagedObjectReference{Type: "StandIn", Value: "patient-search"}

func putPatientSearch(registry *simulator.Registry) {
	registry.Put(&patientSearch{SearchIndex: mo.SearchIndex{Self: patientSearchRef}})
}

func (*patientSearch) FindChild(ctx *simulator.Context, request *types.FindChild) soap.HasFault {
	return untilNamed(func() soap.HasFault { return ctx.Map.SearchIndex().FindChild(ctx, request) })
}

func (*patientSearch) FindByInventoryPath(ctx *simulator.Context, request *types.FindByInventoryPath) soap.HasFault {
	return untilNamed(func() soap.HasFault { return ctx.Map.SearchIndex().FindByInventoryPath(ctx, request) })
}

func untilNamed(find func() soap.HasFault) soap.HasFault {
	for end := time.Now().Add(longestNameless); ; time.Sleep(time.Millisecond) {
		answer, problem := attempt(find)
		if problem == nil {
			return answer
		}
		if time.Now().After(end) {
			panic(problem)
		}
	}
}

// attempt gives what find panics with.
func attempt(find func() soap.HasFault) (answer soap.HasFault, problem any) {
	defer func() { problem = recover() }()
	return find(), nil
}

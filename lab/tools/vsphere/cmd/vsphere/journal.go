package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// uidKey is where drover's metadata has the uid of a VM's object.
const uidKey = "drover.uid"

// journal writes down, from the inventory itself, which VMs have had drover's metadata and which cluster modules there were, and when. What has
// gone stays in it: tests search it for what was made twice.
type journal struct {
	mutex   sync.Mutex
	entries []*life
	// owned is by VM, the life that its present metadata began.
	owned map[types.ManagedObjectReference]*life
	// removed are VMs that are gone: tasks that end later still update them.
	removed map[types.ManagedObjectReference]bool
}

// life is how long a VM had drover's metadata, or a module was there. Times are milliseconds since the epoch.
type life struct {
	// Kind is VirtualMachine or ClusterModule.
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// UID is that of the VM's object; empty for modules.
	UID    string `json:"uid"`
	FromMs int64  `json:"fromMs"`
	// GoneMs is null while it lasts.
	GoneMs *int64 `json:"goneMs"`
	// UserAgent is who made a module; empty for VMs.
	UserAgent string `json:"userAgent"`
}

var journalRef = types.ManagedObjectReference{Type: "StandIn", Value: "journal"}

func openJournal(registry *simulator.Registry) *journal {
	opened := &journal{owned: map[types.ManagedObjectReference]*life{}, removed: map[types.ManagedObjectReference]bool{}}
	registry.AddHandler(opened)
	return opened
}

func (*journal) Reference() types.ManagedObjectReference { return journalRef }

func (*journal) PutObject(*simulator.Context, mo.Reference) {}

// UpdateObject is called under the lock of the object.
func (j *journal) UpdateObject(_ *simulator.Context, item mo.Reference, _ []types.PropertyChange) {
	vm, ok := item.(*mo.VirtualMachine)
	if !ok || vm.Config == nil {
		return
	}
	uid := uidOf(vm.Config.ExtraConfig)
	j.mutex.Lock()
	defer j.mutex.Unlock()
	now, known := j.owned[vm.Self]
	if j.removed[vm.Self] || known && now.UID == uid || !known && uid == "" {
		return
	}
	if known {
		now.end()
		delete(j.owned, vm.Self)
	}
	if uid != "" {
		j.owned[vm.Self] = j.begin(&life{Kind: "VirtualMachine", ID: vm.Self.Value, UID: uid})
	}
}

func (j *journal) RemoveObject(_ *simulator.Context, removed types.ManagedObjectReference) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if removed.Type == "VirtualMachine" {
		j.removed[removed] = true
	}
	if now, known := j.owned[removed]; known {
		now.end()
		delete(j.owned, removed)
	}
}

const modulesPath = restPrefix + "/vcenter/cluster/modules"

// answered takes what a request of the REST API has done to cluster modules.
func (j *journal) answered(r *http.Request, status int, answer []byte) {
	if status >= http.StatusMultipleChoices || !strings.HasPrefix(r.URL.Path, modulesPath) {
		return
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	id := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, modulesPath), "/")
	var made struct{ Value string }
	switch {
	case r.Method == http.MethodPost && id == "" && json.Unmarshal(answer, &made) == nil:
		j.begin(&life{Kind: "ClusterModule", ID: made.Value, UserAgent: r.UserAgent()})
	case r.Method == http.MethodDelete:
		for _, one := range j.entries {
			if one.Kind == "ClusterModule" && one.ID == id && one.GoneMs == nil {
				one.end()
			}
		}
	}
}

func (j *journal) snapshot() []life {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	copied := make([]life, len(j.entries))
	for i, one := range j.entries {
		copied[i] = *one
	}
	return copied
}

func (j *journal) begin(one *life) *life {
	one.FromMs = time.Now().UnixMilli()
	j.entries = append(j.entries, one)
	return one
}

func (l *life) end() {
	now := time.Now().UnixMilli()
	l.GoneMs = &now
}

func uidOf(config []types.BaseOptionValue) string {
	for _, option := range config {
		if value := option.GetOptionValue(); value.Key == uidKey {
			if text, ok := value.Value.(string); ok {
				return text
			}
		}
	}
	return ""
}

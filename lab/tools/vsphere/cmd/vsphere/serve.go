package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"sort"
	"syscall"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"

	_ "github.com/vmware/govmomi/pbm/simulator"
	_ "github.com/vmware/govmomi/vapi/cluster/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator"
)

// settings are read from a file: arguments can be read by every user of the machine.
type settings struct {
	Listen       string `json:"listen"`
	Control      string `json:"control"`
	Certificate  string `json:"certificate"`
	Key          string `json:"key"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	ControlToken string `json:"controlToken"`
	Model        struct {
		Clusters     int `json:"clusters"`
		ClusterHosts int `json:"clusterHosts"`
		Datastores   int `json:"datastores"`
		Machines     int `json:"machines"`
		StoragePods  int `json:"storagePods"`
		// PodDatastores are in the first storage pod, beside the others.
		PodDatastores int `json:"podDatastores"`
	} `json:"model"`
}

// serve runs until it is stopped. The control port listens last: when it answers, all is there.
func serve(settingsFile string) error {
	var given settings
	raw, err := os.ReadFile(settingsFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("%s: %w", settingsFile, err)
	}
	certificate, err := tls.LoadX509KeyPair(given.Certificate, given.Key)
	if err != nil {
		return err
	}

	model := simulator.VPX()
	model.ServiceContent.About.ApiVersion = apiVersion
	model.Cluster = given.Model.Clusters
	model.ClusterHost = given.Model.ClusterHosts
	model.Host = 0
	model.Datastore = given.Model.Datastores + given.Model.PodDatastores
	model.Machine = given.Model.Machines
	model.Pod = given.Model.StoragePods
	if err := model.Create(); err != nil {
		return err
	}
	defer model.Remove()

	service := model.Service
	makeRoom(service.Context.Map)
	if err := fillPod(service, given.Model.PodDatastores); err != nil {
		return err
	}
	service.Listen = &url.URL{Host: given.Listen, User: url.UserPassword(given.Username, given.Password)}
	service.RegisterEndpoints = true
	service.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	rules := newRules(given.Password)
	resetTaskDelays()
	service.Context.Map.SessionManager().ValidLogin = rules.isValidLogin(given.Username)
	putPatientSearch(service.Context.Map)
	rules.watches = putWatches(service.Context.Map)
	service.Context.Map.Handler = rules.handle

	server := service.NewServer()
	defer server.Close()
	front := &front{inner: server.Config.Handler, service: service, journal: openJournal(service.Context.Map), sessions: map[string]bool{}}
	server.Config.Handler = front

	failed := make(chan error, 1)
	control := &http.Server{Addr: given.Control, Handler: newControl(given.ControlToken, service, rules, front)}
	go func() { failed <- control.ListenAndServe() }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	select {
	case err := <-failed:
		return err
	case <-stop:
		return nil
	}
}

// apiVersion is what the vCenter says of its API. The simulator calls itself 6.5, and takes what came with 9.1, such as tags in
// the configuration of a VM.
const apiVersion = "9.1.0.0"

// roomBytes is what each datastore holds: of the simulator's own size it takes some 700 VMs to fill them all.
const roomBytes = 1 << 50

func makeRoom(registry *simulator.Registry) {
	for _, entity := range registry.All("Datastore") {
		datastore := entity.(*simulator.Datastore)
		used := datastore.Summary.Capacity - datastore.Summary.FreeSpace
		datastore.Summary.Capacity = roomBytes
		datastore.Summary.FreeSpace = roomBytes - used
		datastore.Info.GetDatastoreInfo().FreeSpace = datastore.Summary.FreeSpace
	}
}

// resetTaskDelays lets every task take no time. Without a hand-off of its lock a slow task blocks no read of its entity.
func resetTaskDelays() {
	simulator.TaskDelay.MethodDelay = map[string]int{"LockHandoff": 0}
}

// fillPod moves the last datastores into the first storage pod.
func fillPod(service *simulator.Service, count int) error {
	pods := service.Context.Map.All("StoragePod")
	datastores := service.Context.Map.All("Datastore")
	if count == 0 || len(pods) == 0 {
		return nil
	}
	sort.Slice(datastores, func(i, j int) bool { return datastores[i].Entity().Name < datastores[j].Entity().Name })
	var moved []types.ManagedObjectReference
	for _, datastore := range datastores[len(datastores)-count:] {
		moved = append(moved, datastore.Reference())
	}
	ctx := context.Background()
	client, err := vim25.NewClient(ctx, service)
	if err != nil {
		return err
	}
	task, err := object.NewFolder(client, pods[0].Reference()).MoveInto(ctx, moved)
	if err != nil {
		return err
	}
	return task.Wait(ctx)
}

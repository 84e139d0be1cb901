// Command csi-driver is a CSI driver of the lab: `csi-driver SETTINGS`, where the settings say which. The one keeps volumes in
// directories, the other in a pool of Ceph. What CSI asks of both is in controller.go, and what they do with bytes in
// directories.go and rbd.go. There is no kubelet in the lab, and so nothing is ever mounted.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
)

// settings come from a file, as every user of a machine can read the arguments of its processes.
type settings struct {
	// Name of the driver, as a StorageClass has it.
	Name string
	// Socket is for CSI; relative to the working directory, as its path may be too long.
	Socket string
	// Control is the address for tests, and ControlToken what they have to say.
	Control, ControlToken string
	// Directories or Rbd, one of both.
	Directories *struct{ Root string }
	Rbd         *rbdSettings
}

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	if len(os.Args) != 2 {
		log.Fatal("usage: csi-driver SETTINGS")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var wanted settings
	if err := json.Unmarshal(text, &wanted); err != nil {
		return err
	}
	rules := newRules()
	var kept store
	switch {
	case wanted.Directories != nil:
		kept, err = openDirectories(wanted.Directories.Root)
	case wanted.Rbd != nil:
		kept, err = openRbd(*wanted.Rbd, rules)
	default:
		err = errors.New("the settings name no store")
	}
	if err != nil {
		return err
	}

	server := grpc.NewServer(grpc.UnaryInterceptor(rules.intercept))
	csi.RegisterIdentityServer(server, identity{name: wanted.Name})
	csi.RegisterControllerServer(server, &controller{store: kept, locks: newLocks()})
	csi.RegisterNodeServer(server, node{store: kept})

	if err := os.Remove(wanted.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	socket, err := net.Listen("unix", wanted.Socket)
	if err != nil {
		return err
	}
	control, err := net.Listen("tcp", wanted.Control)
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(socket) }()
	go func() { ended <- http.Serve(control, newControl(wanted.ControlToken, rules)) }()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGTERM, syscall.SIGINT)
	select {
	case err := <-ended:
		return err
	case <-interrupted:
		server.Stop()
		return nil
	}
}

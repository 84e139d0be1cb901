package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// newControl is the port for tests. Every request carries the lab's token in X-Lab-Token; bodies are JSON.
//
//	POST   /faults        a vSphere fault for calls, or for their tasks
//	POST   /wire-faults   an answer that is cut, late, missing or of another status
//	PUT    /task-delays   {"CloneVm": 1000}: milliseconds, by the names of tasks; LibraryDeploy is that of REST
//	PUT    /guests        {"deaf": true}: guests take requests and do nothing
//	PUT    /password      {"password": "…"}: of drover's user from now on
//	DELETE /sessions      all end at once
//	GET    /requests      what has arrived; DELETE clears it
//	GET    /journal       which VMs had drover's metadata, and which cluster modules there were, and when
//	POST   /reset         all of the above as it was; the inventory stays
func newControl(token string, service *simulator.Service, rules *rules, front *front) http.Handler {
	password := rules.password
	mux := http.NewServeMux()
	route := func(pattern string, handle func(*json.Decoder) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Lab-Token")), []byte(token)) != 1 {
				http.Error(w, "X-Lab-Token is missing or wrong", http.StatusUnauthorized)
				return
			}
			answer, err := handle(json.NewDecoder(r.Body))
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	route("POST /faults", func(body *json.Decoder) (any, error) { return nil, addFault(body, service, rules) })
	route("POST /wire-faults", func(body *json.Decoder) (any, error) {
		fault := wireFault{Method: "*", Count: 1}
		if err := body.Decode(&fault); err != nil {
			return nil, err
		}
		front.addFault(fault)
		return nil, nil
	})
	route("PUT /task-delays", func(body *json.Decoder) (any, error) {
		delays := map[string]int{}
		if err := body.Decode(&delays); err != nil {
			return nil, err
		}
		delays["LockHandoff"] = 0
		simulator.TaskDelay.MethodDelay = delays
		return nil, nil
	})
	route("PUT /guests", func(body *json.Decoder) (any, error) {
		var guests struct{ Deaf bool }
		err := body.Decode(&guests)
		rules.mutex.Lock()
		defer rules.mutex.Unlock()
		rules.deaf = guests.Deaf
		return nil, err
	})
	route("PUT /password", func(body *json.Decoder) (any, error) {
		var wanted struct{ Password string }
		err := body.Decode(&wanted)
		rules.mutex.Lock()
		defer rules.mutex.Unlock()
		rules.password = wanted.Password
		return nil, err
	})
	route("DELETE /sessions", func(*json.Decoder) (any, error) { return endSessions(service, front) })
	route("GET /requests", func(*json.Decoder) (any, error) { return front.snapshot(), nil })
	route("DELETE /requests", func(*json.Decoder) (any, error) {
		front.mutex.Lock()
		defer front.mutex.Unlock()
		front.requests = nil
		return nil, nil
	})
	route("GET /journal", func(*json.Decoder) (any, error) { return front.journal.snapshot(), nil })
	route("POST /reset", func(*json.Decoder) (any, error) {
		service.ClearFaultRules()
		front.reset()
		rules.reset(password)
		resetTaskDelays()
		return nil, nil
	})
	return mux
}

func addFault(body *json.Decoder, service *simulator.Service, rules *rules) error {
	wanted := struct {
		Method string
		// Fault is the name of a type; Fields are its own.
		Fault  string
		Fields json.RawMessage
		// InTask: the call is taken, and its task fails.
		InTask bool
		Skip   int
		Count  int
	}{Count: 1}
	if err := body.Decode(&wanted); err != nil {
		return err
	}
	of, ok := types.TypeFunc()(wanted.Fault)
	if !ok {
		return fmt.Errorf("vim25 has no type %q", wanted.Fault)
	}
	value := reflect.New(of)
	if len(wanted.Fields) > 0 {
		if err := json.Unmarshal(wanted.Fields, value.Interface()); err != nil {
			return err
		}
	}
	fault, ok := value.Interface().(types.BaseMethodFault)
	if !ok {
		return fmt.Errorf("%q is no fault", wanted.Fault)
	}
	if wanted.InTask {
		rules.mutex.Lock()
		defer rules.mutex.Unlock()
		rules.taskFault = append(rules.taskFault, taskFault{wanted.Method, fault, wanted.Count})
		return nil
	}
	service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: wanted.Method, ObjectType: "*", ObjectName: "*", Probability: 1, Enabled: true,
		FaultType: simulator.FaultTypeCustom, Fault: fault, Message: "as the test asked", SkipCount: wanted.Skip, MaxCount: wanted.Count,
	})
	return nil
}

// endSessions is what an administrator does with all of them, by a client within the process that has none.
func endSessions(service *simulator.Service, front *front) (any, error) {
	ctx := context.Background()
	client, err := vim25.NewClient(ctx, service)
	if err != nil {
		return nil, err
	}
	manager := *client.ServiceContent.SessionManager
	var held mo.SessionManager
	if err := property.DefaultCollector(client).RetrieveOne(ctx, manager, []string{"sessionList"}, &held); err != nil {
		return nil, err
	}
	ended := front.endSessions()
	for _, one := range held.SessionList {
		if _, err := methods.TerminateSession(ctx, client, &types.TerminateSession{This: manager, SessionId: []string{one.Key}}); err == nil {
			ended++
		}
	}
	return map[string]int{"ended": ended}, nil
}

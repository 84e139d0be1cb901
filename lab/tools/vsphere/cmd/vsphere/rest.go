package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

const (
	restPrefix    = "/rest"
	sessionPath   = "/com/vmware/cis/session"
	sessionHeader = "vmware-api-session-id"
	// deployDelay is the name that a deploy is slowed down by, as tasks are by theirs.
	deployDelay = "LibraryDeploy"
)

// isREST reports what serveREST takes: the contents of files pass by it.
func isREST(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, restPrefix+"/") && !strings.Contains(r.URL.Path, "/file-data/")
}

var identifier = regexp.MustCompile(`/id:[^/]+`)
var uuidSegment = regexp.MustCompile(`/[0-9a-f]{8}-[0-9a-f-]{27}`)

// restName is what a request is called in the record and by faults: `POST /com/vmware/vcenter/ovf/library-item deploy`.
func restName(r *http.Request) string {
	path := uuidSegment.ReplaceAllString(identifier.ReplaceAllString(strings.TrimPrefix(r.URL.Path, restPrefix), ""), "/*")
	action := r.URL.Query().Get("~action") + r.URL.Query().Get("action")
	return strings.TrimSpace(r.Method + " " + path + " " + action)
}

func restSession(r *http.Request) string {
	if id := r.Header.Get(sessionHeader); id != "" {
		return id
	}
	if cookie, err := r.Cookie(sessionHeader); err == nil {
		return cookie.Value
	}
	return ""
}

// serveREST is what ServeHTTP is to SOAP.
func (f *front) serveREST(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	session := restSession(r)
	arrived := &request{Method: restName(r), HasSession: session != "", Body: string(body)}
	fault := f.take(arrived)
	if fault != nil && !fault.After && f.inject(fault, w, r) {
		return
	}
	isLogin := arrived.Method == http.MethodPost+" "+sessionPath
	isDeploy := strings.HasSuffix(arrived.Method, "/ovf/library-item deploy")
	// The simulator's cluster modules ask for no session.
	if !isLogin && strings.HasPrefix(r.URL.Path, restPrefix+"/vcenter/") && !f.hasSession(session) {
		f.answered(arrived, http.StatusUnauthorized)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if wrong := wrongSpec(body); isDeploy && wrong != "" {
		f.answered(arrived, http.StatusBadRequest)
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "com.vmware.vapi.std.errors.invalid_argument", "value": map[string]any{"messages": []any{map[string]string{"default_message": wrong}}}})
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	end := func() {}
	if isDeploy {
		end = f.beginDeploy(r.Header.Get("vapi-ctx-actid"), answer)
	}
	f.inner.ServeHTTP(answer, r)
	end()
	f.journal.answered(r, answer.Code, answer.Body.Bytes())
	f.keepSession(isLogin, answer)
	if fault != nil && fault.After && f.inject(fault, w, r) {
		return
	}
	f.passOn(w, arrived, answer)
}

func (f *front) hasSession(id string) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.sessions[id]
}

// keepSession records who has logged in.
func (f *front) keepSession(isLogin bool, answer *httptest.ResponseRecorder) {
	var session struct{ Value string }
	if !isLogin || answer.Code != http.StatusOK || json.Unmarshal(answer.Body.Bytes(), &session) != nil {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.sessions[session.Value] = true
}

// endSessions ends those of the REST API, and returns how many.
func (f *front) endSessions() int {
	f.mutex.Lock()
	ended := f.sessions
	f.sessions = map[string]bool{}
	f.mutex.Unlock()
	for id := range ended {
		request := httptest.NewRequest(http.MethodDelete, restPrefix+sessionPath, nil)
		request.Header.Set(sessionHeader, id)
		f.inner.ServeHTTP(httptest.NewRecorder(), request)
	}
	return len(ended)
}

// wrongSpec says what a vCenter would refuse in the configuration that a deploy carries: the simulator reads any order.
func wrongSpec(body []byte) string {
	var asked struct {
		Spec struct {
			Config struct {
				XML string `json:"xml"`
			} `json:"vm_config_spec"`
		} `json:"deployment_spec"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || asked.Spec.Config.XML == "" {
		return ""
	}
	text, err := base64.StdEncoding.DecodeString(asked.Spec.Config.XML)
	if err != nil {
		return err.Error()
	}
	var given element
	if err := xml.Unmarshal(text, &given); err != nil {
		return err.Error()
	}
	return checkOrder(given, reflect.TypeFor[types.VirtualMachineConfigSpec](), "vm_config_spec")
}

var deploys atomic.Int64

// beginDeploy makes the task that a vCenter has while it deploys, with the caller's activation id, and takes as long as a test asked
// for. What comes back ends it.
func (f *front) beginDeploy(activationID string, answer *httptest.ResponseRecorder) func() {
	ctx := &simulator.Context{Context: context.Background(), Map: f.service.Context.Map}
	task := &simulator.Task{}
	task.Self = types.ManagedObjectReference{Type: "Task", Value: "task-deploy-" + strconv.FormatInt(deploys.Add(1), 10)}
	entity := types.ManagedObjectReference{Type: "Folder", Value: "group-d1"}
	task.Info = types.TaskInfo{
		Key: task.Self.Value, Task: task.Self, DescriptionId: "com.vmware.ovfs.LibraryItem.deploy", ActivationId: activationID, Entity: &entity,
		State: types.TaskInfoStateRunning, Reason: &types.TaskReasonUser{UserName: "lab"}, QueueTime: time.Now(), StartTime: types.NewTime(time.Now()),
	}
	ctx.Map.Put(task)
	time.Sleep(time.Duration(simulator.TaskDelay.MethodDelay[deployDelay]) * time.Millisecond)
	return func() {
		var deployed struct{ Value struct{ Succeeded bool } }
		_ = json.Unmarshal(answer.Body.Bytes(), &deployed)
		changes := []types.PropertyChange{{Name: "info.completeTime", Val: time.Now()}, {Name: "info.state", Val: types.TaskInfoStateSuccess}}
		if !deployed.Value.Succeeded {
			fault := types.LocalizedMethodFault{Fault: &types.SystemError{Reason: answer.Body.String()}, LocalizedMessage: "the deploy failed"}
			changes = []types.PropertyChange{{Name: "info.completeTime", Val: time.Now()}, {Name: "info.error", Val: &fault}, {Name: "info.state", Val: types.TaskInfoStateError}}
		}
		ctx.Map.AtomicUpdate(ctx, task, changes)
	}
}

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi/simulator"
)

// front writes down every request of SOAP and of the REST API before the simulator sees it, refuses what is out of order,
// and loses or delays answers where a test asked for it.
type front struct {
	inner    http.Handler
	service  *simulator.Service
	journal  *journal
	mutex    sync.Mutex
	requests []*request
	faults   []wireFault
	// sessions are those of the REST API.
	sessions map[string]bool
}

// request is one that arrived. The body of a login is left out.
type request struct {
	Method     string `json:"method"`
	SOAPAction string `json:"soapAction"`
	// HasSession says that a session's cookie came along, good or not.
	HasSession bool   `json:"hasSession"`
	Body       string `json:"body"`
	// Status is 0 while there is no answer, and where there was none.
	Status int `json:"status"`
}

// wireFault is one way in which an answer does not arrive as it should.
type wireFault struct {
	// Method as in SOAP, `*` is any of them; one of the REST API by its restName.
	Method string `json:"method"`
	// After: the simulator has done what was asked.
	After bool `json:"after"`
	// Does: `cut`, `hang` until the caller gives up, `status` with an empty body, or `delay`.
	Does    string `json:"does"`
	Status  int    `json:"status"`
	DelayMs int    `json:"delayMs"`
	Skip    int    `json:"skip"`
	Count   int    `json:"count"`
}

const mostRequests = 20_000

var methodName = regexp.MustCompile(`<(?:\w+:)?Body(?:\s[^>]*)?>\s*<(?:\w+:)?(\w+)`)

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isREST(r) {
		f.serveREST(w, r)
		return
	}
	hasSession := strings.Contains(r.Header.Get("Cookie"), "vmware_soap_session=")
	if strings.HasPrefix(r.URL.Path, "/folder/") {
		f.serveFile(w, r, hasSession)
		return
	}
	if r.URL.Path != "/sdk" || r.Method != http.MethodPost {
		f.inner.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	arrived := &request{SOAPAction: r.Header.Get("SOAPAction"), HasSession: hasSession, Body: string(body)}
	if found := methodName.FindSubmatch(body); found != nil {
		arrived.Method = string(found[1])
	}
	if arrived.Method == "Login" {
		arrived.Body = ""
	}
	fault := f.take(arrived)
	if fault != nil && !fault.After && f.inject(fault, w, r) {
		return
	}
	if wrong := outOfOrder(body); wrong != "" {
		f.answered(arrived, http.StatusInternalServerError)
		refuse(w, wrong)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	f.inner.ServeHTTP(answer, r)
	if fault != nil && fault.After && f.inject(fault, w, r) {
		return
	}
	f.passOn(w, arrived, answer)
}

// serveFile is a file of a datastore, which is recorded as `PUT /folder`. Of one that is cut, half has arrived.
func (f *front) serveFile(w http.ResponseWriter, r *http.Request, hasSession bool) {
	arrived := &request{Method: r.Method + " /folder", HasSession: hasSession}
	fault := f.take(arrived)
	if !hasSession {
		f.answered(arrived, http.StatusUnauthorized)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if fault != nil && !fault.After {
		if fault.Does == "cut" && r.Method == http.MethodPut {
			r.Body = io.NopCloser(io.LimitReader(r.Body, r.ContentLength/2))
			f.inner.ServeHTTP(httptest.NewRecorder(), r)
		}
		if f.inject(fault, w, r) {
			return
		}
	}
	if r.Method != http.MethodPut {
		f.inner.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	f.inner.ServeHTTP(answer, r)
	if fault != nil && fault.After && f.inject(fault, w, r) {
		return
	}
	f.passOn(w, arrived, answer)
}

// passOn gives the simulator's answer to who asked, and writes down that it did.
func (f *front) passOn(w http.ResponseWriter, arrived *request, answer *httptest.ResponseRecorder) {
	f.answered(arrived, answer.Code)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// take writes the request down and gives the fault that it is to meet.
func (f *front) take(arrived *request) *wireFault {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.requests = append(f.requests, arrived); len(f.requests) > mostRequests {
		f.requests = f.requests[1:]
	}
	for i := range f.faults {
		fault := &f.faults[i]
		isAny := fault.Method == "*" && arrived.SOAPAction != ""
		if (!isAny && fault.Method != arrived.Method) || fault.Count == 0 {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		fault.Count--
		injected := *fault
		return &injected
	}
	return nil
}

func (f *front) answered(arrived *request, status int) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	arrived.Status = status
}

// inject returns whether the fault is all that becomes of the request.
func (f *front) inject(fault *wireFault, w http.ResponseWriter, r *http.Request) bool {
	switch fault.Does {
	case "cut":
		panic(http.ErrAbortHandler)
	case "hang":
		<-r.Context().Done()
		return true
	case "status":
		w.WriteHeader(fault.Status)
		return true
	}
	time.Sleep(time.Duration(fault.DelayMs) * time.Millisecond)
	return false
}

func (f *front) snapshot() []request {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	copied := make([]request, len(f.requests))
	for i, one := range f.requests {
		copied[i] = *one
	}
	return copied
}

func (f *front) reset() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.requests, f.faults = nil, nil
}

func (f *front) addFault(fault wireFault) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.faults = append(f.faults, fault)
}

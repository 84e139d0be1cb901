package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// fault is what becomes of the next calls of a method.
type fault struct {
	// Method as CSI names it, such as CreateVolume.
	Method string
	// Code as gRPC names it, such as ResourceExhausted; OK: none, only the delay.
	Code    codeName
	Message string
	// After: its effect is there, and the caller is not told.
	After   bool
	DelayMs int
	Count   int
}

// codeName is a code that is written as Go does, as in the log.
type codeName codes.Code

func (c *codeName) UnmarshalText(text []byte) error {
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		if code.String() == string(text) {
			*c = codeName(code)
			return nil
		}
	}
	return fmt.Errorf("gRPC has no code %q", text)
}

// rules holds the faults that are to come, and counts what was called.
type rules struct {
	mutex  sync.Mutex
	faults []*fault
	// calls by method, and by code of the answer.
	calls map[string]map[string]int
	// running has those that were not answered yet.
	running map[string]int
}

func newRules() *rules {
	return &rules{calls: map[string]map[string]int{}, running: map[string]int{}}
}

func (r *rules) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	return r.run(ctx, path.Base(info.FullMethod), func() (any, error) { return handle(ctx, request) })
}

// run counts a call, and does with it what the test asked for.
func (r *rules) run(ctx context.Context, method string, handle func() (any, error)) (any, error) {
	started := time.Now()
	answer, err := apply(ctx, r.begin(method), handle)
	if err != nil {
		answer, err = nil, asStatus(ctx, err)
	}
	r.end(method, status.Code(err))
	log.Printf("%s %s %v", method, time.Since(started).Round(time.Millisecond), status.Convert(err).Err())
	return answer, err
}

// asStatus gives an error of the machine a code.
func asStatus(ctx context.Context, err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Error(codes.Internal, err.Error())
}

func apply(ctx context.Context, wanted *fault, handle func() (any, error)) (any, error) {
	if wanted == nil {
		return handle()
	}
	select {
	case <-time.After(time.Duration(wanted.DelayMs) * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if codes.Code(wanted.Code) == codes.OK {
		return handle()
	}
	if wanted.After {
		if answer, err := handle(); err != nil {
			return answer, err
		}
	}
	return nil, status.Error(codes.Code(wanted.Code), wanted.Message)
}

func (r *rules) begin(method string) *fault {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.running[method]++
	for _, wanted := range r.faults {
		if wanted.Method == method && wanted.Count > 0 {
			wanted.Count--
			return wanted
		}
	}
	return nil
}

func (r *rules) end(method string, code codes.Code) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.running[method]--
	if r.calls[method] == nil {
		r.calls[method] = map[string]int{}
	}
	r.calls[method][code.String()]++
}

// newControl is the port for tests. Every request carries the lab's token in X-Lab-Token; bodies are JSON.
//
//	POST   /faults  of the next calls of a method
//	DELETE /faults  those that did not come yet
//	GET    /calls   {"CreateVolume": {"OK": 3, "Aborted": 1}}: answers by method and code; DELETE begins anew
//	GET    /running {"CreateVolume": 2}: what is being worked on
func newControl(token string, rules *rules) http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, handle func(*json.Decoder) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Lab-Token")), []byte(token)) != 1 {
				http.Error(w, "X-Lab-Token is missing or wrong", http.StatusUnauthorized)
				return
			}
			rules.mutex.Lock()
			defer rules.mutex.Unlock()
			answer, err := handle(json.NewDecoder(r.Body))
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	route("POST /faults", func(body *json.Decoder) (any, error) {
		wanted := fault{Message: "as the test asked", Count: 1}
		body.DisallowUnknownFields()
		if err := body.Decode(&wanted); err != nil {
			return nil, fmt.Errorf("that is no fault: %w", err)
		}
		rules.faults = append(rules.faults, &wanted)
		return nil, nil
	})
	route("DELETE /faults", func(*json.Decoder) (any, error) {
		rules.faults = nil
		return nil, nil
	})
	route("GET /calls", func(*json.Decoder) (any, error) { return rules.calls, nil })
	route("DELETE /calls", func(*json.Decoder) (any, error) {
		rules.calls = map[string]map[string]int{}
		return nil, nil
	})
	route("GET /running", func(*json.Decoder) (any, error) { return rules.running, nil })
	return mux
}

package main

import "errors"

type rbdSettings struct{}

func openRbd(rbdSettings) (store, error) { return nil, errors.New("not yet") }

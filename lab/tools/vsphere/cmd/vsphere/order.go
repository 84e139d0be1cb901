package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"reflect"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// element is a piece of a request.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
}

const instanceNamespace = "http://www.w3.org/2001/XMLSchema-instance"

// outOfOrder says what a vCenter would refuse in a request and the simulator reads all the same: the types of vim25 are
// sequences, so elements must come in the order of the schema, those of the base type first, and no others. Empty: nothing.
func outOfOrder(body []byte) string {
	var envelope struct {
		Body struct {
			Methods []element `xml:",any"`
		} `xml:"http://schemas.xmlsoap.org/soap/envelope/ Body"`
	}
	if err := xml.NewDecoder(bytes.NewReader(body)).Decode(&envelope); err != nil {
		return err.Error()
	}
	find := types.TypeFunc()
	for _, method := range envelope.Body.Methods {
		if of, ok := find(method.XMLName.Local); ok {
			if wrong := checkOrder(method, of, method.XMLName.Local); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

func checkOrder(given element, of reflect.Type, path string) string {
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[types.ManagedObjectReference]() {
		return ""
	}
	fields := sequence(of)
	last := 0
	for _, child := range given.Children {
		name := child.XMLName.Local
		at := -1
		for i, field := range fields {
			if field.name == name {
				at = i
			}
		}
		if at == -1 {
			return fmt.Sprintf("%s has no element %s", path, name)
		}
		if at < last {
			return fmt.Sprintf("%s: %s comes after %s", path, name, fields[last].name)
		}
		last = at
		if wrong := checkOrder(child, typeOf(child, fields[at].of), path+"."+name); wrong != "" {
			return wrong
		}
	}
	return ""
}

type sequenceField struct {
	name string
	of   reflect.Type
}

// sequence lists the elements of a type in the schema's order.
func sequence(of reflect.Type) []sequenceField {
	var fields []sequenceField
	for field := range of.Fields() {
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			fields = append(fields, sequence(field.Type)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("xml"), ",")
		if name != "" && name != "-" {
			fields = append(fields, sequenceField{name, plain(field.Type)})
		}
	}
	return fields
}

func plain(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	return of
}

// typeOf is the type that the element names, else that of its field.
func typeOf(given element, declared reflect.Type) reflect.Type {
	for _, attr := range given.Attrs {
		if attr.Name.Space == instanceNamespace && attr.Name.Local == "type" {
			_, name, found := strings.Cut(attr.Value, ":")
			if !found {
				name = attr.Value
			}
			if of, ok := types.TypeFunc()(name); ok {
				return of
			}
		}
	}
	return declared
}

// refuse answers as a vCenter does to what it cannot read.
func refuse(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="%s"><soapenv:Body><soapenv:Fault><faultcode>ClientFaultCode</faultcode><faultstring>%s</faultstring><detail><InvalidRequestFault xmlns="urn:vim25" xsi:type="InvalidRequest"></InvalidRequestFault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>`, instanceNamespace, html.EscapeString(why))
}

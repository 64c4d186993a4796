// Package tools is the surface of the agent bus's tools: what an agent sends and
// what it gets back, but not what the tools do.
//
//	Arguments, Read        the arguments of a call, read and checked      arguments.go, read.go
//	NewXResult             results, as JSON and as text                   result.go, result_question.go, render.go
//	ErrorResult(err)       errors in the same two forms                   errors.go
//	SettingsFrom(lookup)   the limits that environment variables set      settings.go
//
// Results are views of the topic's state after the change, so that a result never
// says anything that was not stored.
package tools

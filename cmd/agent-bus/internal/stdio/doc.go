// Package stdio is the transport of an MCP server that has to survive its
// client: JSON-RPC messages, one per line, over two streams.
//
// The SDK's own transport ends the session at the first line that is no
// message, and forgets the answers to calls that are being worked on when the
// input ends. This one
//
//   - answers a malformed line with a JSON-RPC error and goes on,
//   - bounds the length of a line and skips one that is longer,
//   - sends no answer to a call that the client has cancelled,
//   - takes batches in every protocol version and answers them with one array,
//   - says when the input has ended, so that waits can end, and lets calls that
//     are about to finish answer first,
//   - never closes the streams: they belong to the process.
package stdio

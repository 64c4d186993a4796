package stdio

import "encoding/json"

// A refusal is the answer to what is no message. The SDK's own type leaves out
// an id that is null, which JSON-RPC requires here.
type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if it could not be told
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func refuse(id json.RawMessage, code int, message string) *refusal {
	r := &refusal{Version: "2.0", ID: id}
	r.Error.Code, r.Error.Message = code, message
	return r
}

func (r *refusal) encode() []byte {
	data, err := json.Marshal(r)
	if err != nil {
		panic("stdio: " + err.Error()) // an id that was JSON, a number and a text
	}
	return data
}

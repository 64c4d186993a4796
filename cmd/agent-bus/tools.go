package main

// toolTable returns the twelve tools of the specification.
func toolTable() []*tool {
	return []*tool{
		taking(tool{
			name: "ping", title: "Ping", readOnly: true, unordered: true,
			description: "Check that the server is there, and in which data directory it keeps topics. Touches no file.",
		}, ping),
		taking(tool{
			name: "topic_create", title: "Create a topic",
			description: "Find the open topic with a name, or make one. Agents that are to talk use the same name.",
		}, topicCreate),
		taking(tool{
			name: "topic_list", title: "List topics", readOnly: true,
			description: "List topics with the number of their questions, the newest first.",
		}, topicList),
		taking(tool{
			name: "topic_resolve", title: "Find a topic by name", readOnly: true,
			description: "Find the newest open topic with exactly this name.",
		}, topicResolve),
		taking(tool{
			name: "topic_close", title: "Close a topic", idempotent: true, destructive: true,
			description: "Close a topic for new questions, for everybody and for good. Any agent can. Questions already asked can still be answered.",
		}, topicClose),
		taking(tool{
			name: "topic_join", title: "Join a topic", idempotent: true,
			description: "Join a topic under a name, for this session. Needed once before ask, pending_list, answer, ask_cancel and question_mark_answered.",
		}, topicJoin),
		taking(tool{
			name: "ask", title: "Ask a question", large: true, joined: true,
			description: "Ask the other agents on a topic, and wait for the first answer. More answers may come; ask_poll returns all. The question stays open until you mark it answered or cancel it.",
		}, ask),
		taking(tool{
			name: "ask_poll", title: "Look for answers", readOnly: true, large: true,
			description: "Look how a question stands, and read all its answers. With wait_seconds, wait first until it has min_answers answers.",
		}, askPoll),
		taking(tool{
			name: "ask_cancel", title: "Cancel a question", idempotent: true, joined: true,
			description: "Withdraw a question of your own: nobody is offered it any more.",
		}, askCancel),
		taking(tool{
			name: "question_mark_answered", title: "Mark a question answered", idempotent: true, joined: true,
			description: "Close a question of your own that has been answered well enough: nobody is offered it any more.",
		}, questionMarkAnswered),
		taking(tool{
			name: "pending_list", title: "List questions to answer", readOnly: true, large: true, joined: true,
			description: "List the questions of others that you can answer and have not, the oldest first. Waits until there is one. With mine, list your own open questions instead, without waiting.",
		}, pendingList),
		taking(tool{
			name: "answer", title: "Answer questions", joined: true,
			description: "Answer one or more questions, each once. All are stored or, if one is refused, none.",
		}, answer),
	}
}

package harness

// table has one row for each harness. A harness that is started by another one
// inherits its environment, so the order decides what such a harness is taken for.
var table = []*Harness{
	{
		ID:          ClaudeCode,
		Agent:       "claude",
		Program:     "claude",
		Package:     "@anthropic-ai/claude-code",
		Markers:     []Marker{{"CLAUDECODE", "1"}},
		SessionVars: []string{"CLAUDE_CODE_SESSION_ID"},
		PIDVar:      "CLAUDE_PID",
		PIDHintVar:  "CMUX_CLAUDE_PID",
		DaemonArgs:  []string{"daemon", "run"},
		ConfigDir:   ConfigDir{Var: "CLAUDE_CONFIG_DIR", Base: ".claude"},
		Hooks: Hooks{
			File: "settings.json", Shape: Groups,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "Edit|MultiEdit|Write|NotebookEdit",
			Events: []HookEvent{
				{Kind: KindSessionStart, Event: "SessionStart"},
				{Kind: KindCwdChanged, Event: "CwdChanged"},
				{Kind: KindFileChanged, Event: "FileChanged", Seconds: 90, Wakes: true},
				{Kind: KindContext, Event: "UserPromptSubmit", Prompt: true},
				{Kind: KindContext, Event: "PostToolUse"},
				{Kind: KindListen, Event: "Stop", Seconds: 604800, Wakes: true},
				{Kind: KindSessionEnd, Event: "SessionEnd", Seconds: 5},
				{Kind: KindContext, Event: "PostToolUseFailure"}, // PostToolUse is for tools that succeed
				{Kind: KindContext, Event: "PostToolBatch"},      // it alone runs for both, and older versions do not have it
				{Kind: KindShell, Event: "PreToolUse", Matcher: "Bash|Monitor"},
				{Kind: KindAsks, Event: "PermissionRequest"},
				{Kind: KindFails, Event: "StopFailure"},
			},
			Interactive: Marker{"CLAUDE_CODE_ENTRYPOINT", "cli"},
			OneSession:  true, StaysAfter: []string{"clear", "resume"},
			StatusDir: "sessions",
		},
		Input: HookInput{
			Session: "session_id", SessionVar: "CLAUDE_CODE_SESSION_ID", Event: "hook_event_name", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path", "notebook_path"},
			Command: []string{"command"},
			Prompt:  "prompt", Repeated: "stop_hook_active", Subagent: "agent_id", Changed: "file_path", Failure: "error", Reason: "reason",
			Tasks: "background_tasks", Foreign: "cursor_version",
		},
		Answer: HookAnswer{Stop: "block", StopMayQuote: true, StopIsContext: "2.1.163", EditIsSpecific: true},
		MCP: MCP{
			Old:     []string{""},
			Servers: []string{".config.json", ".claude.json"}, InHome: true, Key: "mcpServers",
		},
	},
	{
		ID:          Codex,
		Agent:       "codex",
		Aliases:     []string{"codex-cli"},
		Program:     "codex",
		Package:     "@openai/codex",
		Markers:     []Marker{{"CODEX_MANAGED_BY_NPM", "1"}, {"CODEX_THREAD_ID", ""}},
		SessionVars: []string{"CODEX_THREAD_ID"},
		ServerArg:   "app-server", // the first terminal starts it, and it runs the threads of all of them
		ConfigDir:   ConfigDir{Var: "CODEX_HOME", Base: ".codex"},
		Hooks: Hooks{
			File: "hooks.json", Shape: Groups,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "^(apply_patch|Edit|Write)$",
			Events: []HookEvent{
				{Kind: KindSessionStart, Event: "SessionStart"},
				{Kind: KindContext, Event: "UserPromptSubmit", Prompt: true},
				{Kind: KindContext, Event: "PostToolUse"},
				{Kind: KindSessionEnd, Event: "SessionEnd", Seconds: 5},
				{Kind: KindStop, Event: "Interrupt"},
				{Kind: KindShell, Event: "PreToolUse", Matcher: "^Bash$"},
				{Kind: KindAsks, Event: "PermissionRequest"},
			},
			Interrupt:  "Interrupt",
			Queue:      "codex-queue",
			OneSession: true,
			Locks:      "thread-writer-locks",
			Trust:      "config.toml",
			Sandbox:    "writable_roots under [sandbox_workspace_write] in config.toml",
		},
		Input: HookInput{
			Session: "session_id", SessionVar: "CODEX_THREAD_ID", Event: "hook_event_name", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path"}, Patch: "command",
			Command: []string{"command", "cmd"}, CommandDir: []string{"workdir"},
			Prompt: "prompt", Repeated: "stop_hook_active", Subagent: "agent_id", Transcript: "transcript_path",
		},
		Answer: HookAnswer{Stop: "block", EditIsSpecific: true},
		Note:   "approve the hooks once with /hooks in Codex; an idle agent is told at once, and with --no-daemon within 10 s",
		MCP: MCP{
			Old:     []string{""},
			Servers: []string{"config.toml"}, Key: "mcp_servers", EnvVars: true,
		},
	},
	{
		ID:      Antigravity,
		Agent:   "antigravity",
		Program: "agy",
		Markers: []Marker{
			{"ANTIGRAVITY_AGENT", "1"},
			{"ANTIGRAVITY_CONVERSATION_ID", ""},
			{"ANTIGRAVITY_TRAJECTORY_ID", ""},
		},
		SessionVars: []string{"ANTIGRAVITY_CONVERSATION_ID", "ANTIGRAVITY_TRAJECTORY_ID"},
		// The products of Antigravity share Base; the first editions of its editor had Former.
		ConfigDir: ConfigDir{Base: ".gemini/config", Former: ".gemini/antigravity"},
		Hooks: Hooks{
			File: "hooks.json", Shape: Named,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "write_to_file|replace_file_content|multi_replace_file_content",
			Events:     []HookEvent{{Kind: KindContext, Event: "PreInvocation"}},
			Hold:       true,
		},
		Input: HookInput{
			Session: "conversationId", SessionVar: "ANTIGRAVITY_CONVERSATION_ID", Dir: "workspacePaths",
			Tool: "toolCall.name", ToolInput: "toolCall.args", Files: []string{"TargetFile"},
			Idle: "fullyIdle",
		},
		Answer: HookAnswer{Stop: "continue", SilenceRefuses: true, ContextIsSteps: true},
		MCP:    MCP{Servers: []string{"mcp_config.json"}, Key: "mcpServers"},
	},
	{
		ID:        Gemini,
		Agent:     "gemini",
		Aliases:   []string{"gemini-cli"},
		Program:   "gemini",
		Package:   "@google/gemini-cli",
		Markers:   []Marker{{"GEMINI_CLI", "1"}},
		ConfigDir: ConfigDir{Base: ".gemini"},
		Hooks: Hooks{
			File: "settings.json", Shape: Groups,
			StopEvent: "AfterAgent", EditEvent: "BeforeTool",
			WriteTools: "^(write_file|replace)$",
			Millis:     true,
			Events: []HookEvent{
				{Kind: KindSessionStart, Event: "SessionStart"},
				{Kind: KindContext, Event: "BeforeAgent", Prompt: true},
				{Kind: KindContext, Event: "AfterTool"},
				{Kind: KindSessionEnd, Event: "SessionEnd", Seconds: 5},
				{Kind: KindShell, Event: "BeforeTool", Matcher: "^run_shell_command$"},
				{Kind: KindAsks, Event: "Notification", Matcher: "ToolPermission"},
			},
			Hold:       true,
			OneSession: true, StaysAfter: []string{"clear"},
		},
		Input: HookInput{
			Session: "session_id", Event: "hook_event_name", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path"},
			Command: []string{"command"}, CommandDir: []string{"dir_path"}, Asked: "details.command",
			Prompt: "prompt", Reply: "prompt_response", Repeated: "stop_hook_active", Subagent: "agent_id", Reason: "reason",
		},
		Answer: HookAnswer{Stop: "deny"},
		MCP: MCP{
			Old:     []string{""},
			Servers: []string{"settings.json"}, Key: "mcpServers",
		},
	},
	{
		ID:          OpenCode,
		Agent:       "opencode",
		Aliases:     []string{"open-code"},
		Program:     "opencode",
		Package:     "opencode-ai",
		Markers:     []Marker{{"OPENCODE", "1"}},
		SessionVars: []string{"OPENCODE_RUN_ID", "OPENCODE_PID"},
		ConfigDir:   ConfigDir{Var: "XDG_CONFIG_HOME", Base: ".config", Sub: "opencode"},
		Hooks: Hooks{
			File: "plugins/talking-stick.js", Shape: Plugin, // plugin.js knows the rest
			Events:     []HookEvent{{Kind: KindContext, Event: "chat.message", Prompt: true}},
			StaysAfter: []string{"deleted", "left"},
		},
		Input: HookInput{
			Session: "session_id", SessionVar: "OPENCODE_RUN_ID", Event: "hook_event_name", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"filePath"}, Patch: "patchText",
			Command: []string{"command"}, CommandDir: []string{"workdir"},
			Prompt: "prompt", Repeated: "stop_hook_active", Subagent: "agent_id", Failure: "error", Reason: "reason",
		},
		Answer: HookAnswer{Stop: "block"},
		Note:   "restart OpenCode to load the plugin",
		MCP: MCP{
			Old:     []string{"opencode.json", "opencode.jsonc", "config.json"},
			Servers: []string{"opencode.jsonc", "opencode.json"}, Key: "mcp", LaterKey: "servers",
			Entry: func(command string) any {
				return struct {
					Type    string   `json:"type"`
					Command []string `json:"command"`
					Enabled bool     `json:"enabled"`
					Timeout int      `json:"timeout"`
				}{"local", []string{command}, true, 60000}
			},
		},
	},
	{
		ID:          Copilot,
		Agent:       "copilot",
		Aliases:     []string{"copilot-cli", "github-copilot"},
		Program:     "copilot",
		Package:     "@github/copilot",
		Markers:     []Marker{{"COPILOT_CLI", "1"}, {"COPILOT_AGENT_SESSION_ID", ""}},
		SessionVars: []string{"COPILOT_AGENT_SESSION_ID"},
		PIDVar:      "COPILOT_LOADER_PID",
		ConfigDir:   ConfigDir{Var: "COPILOT_HOME", Base: ".copilot"},
		Hooks: Hooks{
			File: "hooks/talking-stick.json", Shape: OwnFile, // it reads every JSON file in hooks
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "^(Edit|MultiEdit|Write|create|edit|apply_patch)$",
			Events: []HookEvent{
				{Kind: KindSessionStart, Event: "SessionStart"},
				{Kind: KindContext, Event: "UserPromptSubmit", Prompt: true},
				{Kind: KindContext, Event: "PostToolUse"},
				{Kind: KindSessionEnd, Event: "SessionEnd", Seconds: 5},
				{Kind: KindShell, Event: "PreToolUse", Matcher: "^(Bash|bash)$"},
				{Kind: KindAsks, Event: "Notification", Matcher: "permission_prompt"}, // PermissionRequest comes also where nobody is asked
				{Kind: KindFails, Event: "ErrorOccurred"},
			},
		},
		Input: HookInput{
			Session: "session_id|sessionId", SessionVar: "COPILOT_AGENT_SESSION_ID", Event: "hook_event_name", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"path", "file_path"}, Patch: "patch",
			Command: []string{"command"}, Asked: "message",
			Prompt: "prompt", Repeated: "stop_hook_active", Failure: "error.message", Reason: "reason",
		},
		Answer: HookAnswer{Stop: "block", EditIsSpecific: true, ContextIsPlain: true},
		Note:   "an idle agent is called by the end of a background command: tt wait --inbox",
		MCP: MCP{
			Servers: []string{"mcp-config.json"}, Key: "mcpServers",
			Entry: func(command string) any {
				return struct {
					Type    string   `json:"type"`
					Command string   `json:"command"`
					Args    []string `json:"args"`
					Tools   []string `json:"tools"`
				}{"local", command, []string{}, []string{"*"}}
			},
		},
	},
	{
		ID:        Qwen,
		Agent:     "qwen",
		Aliases:   []string{"qwen-code"},
		Program:   "qwen",
		Package:   "@qwen-code/qwen-code",
		Markers:   []Marker{{"QWEN_CODE", "1"}},
		ConfigDir: ConfigDir{Base: ".qwen"},
		Hooks: Hooks{
			File: "settings.json", Shape: Groups,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "^(write_file|edit|replace)$",
			Millis:     true,
			Events: []HookEvent{
				{Kind: KindSessionStart, Event: "SessionStart"},
				{Kind: KindContext, Event: "UserPromptSubmit"}, // it comes after each tool, too
				{Kind: KindContext, Event: "PostToolUse"},
				{Kind: KindSessionEnd, Event: "SessionEnd", Seconds: 5},
				{Kind: KindShell, Event: "PreToolUse", Matcher: "^run_shell_command$"},
				{Kind: KindAsks, Event: "PermissionRequest"},
				{Kind: KindFails, Event: "StopFailure"},
			},
			OneSession: true, StaysAfter: []string{"clear"},
		},
		Input: HookInput{
			Session: "session_id", Event: "hook_event_name", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path"},
			Command: []string{"command"}, CommandDir: []string{"directory"},
			Prompt: "prompt", Subagent: "agent_id", Failure: "error", Reason: "reason",
		},
		Answer: HookAnswer{Stop: "block", EditIsSpecific: true},
		MCP:    MCP{Servers: []string{"settings.json"}, Key: "mcpServers"},
	},
	{ // made from the documentation, and not tried with the program
		ID:          Cursor,
		Agent:       "cursor",
		Aliases:     []string{"cursor-cli"},
		Program:     "cursor-agent",
		Desktop:     "cursor",
		Markers:     []Marker{{"CURSOR_AGENT", "1"}},
		SessionVars: []string{"CURSOR_CONVERSATION_ID"},
		ConfigDir:   ConfigDir{Base: ".cursor"},
		Hooks: Hooks{
			File: "hooks.json", Shape: Flat, // one event that it does not know, and it runs none
			StopEvent: "stop", EditEvent: "preToolUse",
			WriteTools: "^(Write|Edit|StrReplace|Delete)$",
			Cut:        []string{"aborted", "error"},
			Events: []HookEvent{
				{Kind: KindSessionStart, Event: "sessionStart"},
				{Kind: KindContext, Event: "beforeSubmitPrompt", Prompt: true, Mute: true},
				{Kind: KindContext, Event: "postToolUse", Mute: true},
				{Kind: KindSessionEnd, Event: "sessionEnd", Seconds: 5},
				{Kind: KindShell, Event: "beforeShellExecution"}, // older than preToolUse
			},
			StaysAfter: []string{"user_close", "window_close"},
		},
		Input: HookInput{
			Session: "conversation_id|session_id", SessionVar: "CURSOR_CONVERSATION_ID", Event: "hook_event_name", Dir: "cwd|workspace_roots",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path", "path"},
			Command: []string{"command"}, Asked: "command",
			Prompt: "prompt", Outcome: "status", Reason: "reason", Version: "cursor_version",
		},
		Answer: HookAnswer{Stop: "followup_message", IsFlat: true},
		Note:   "made from the documentation of Cursor, and not tried with it; an agent hears what is new when its turn ends",
		MCP:    MCP{Servers: []string{"mcp.json"}, Key: "mcpServers"},
	},
	{
		ID:          Grok,
		Agent:       "grok",
		Aliases:     []string{"grok-build"},
		Program:     "grok",
		LaunchVar:   "CMUX_AGENT_LAUNCH_KIND",
		Markers:     []Marker{{"GROK_AGENT", "1"}},
		SessionVars: []string{"GROK_SESSION_ID"},
		ConfigDir:   ConfigDir{Var: "GROK_HOME", Base: ".grok"},
		Hooks: Hooks{
			File: "hooks/talking-stick.json", Shape: OwnFile, // it reads every JSON file in hooks
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "^(Edit|Write|MultiEdit|NotebookEdit|search_replace|write)$", // todo_write writes no file
			Events:     []HookEvent{{Kind: KindSessionEnd, Event: "SessionEnd", Seconds: 5}},
		},
		Input: HookInput{
			Session: "sessionId", SessionVar: "GROK_SESSION_ID", Event: "hookEventName", Dir: "cwd",
			Tool: "toolName", ToolInput: "toolInput", Files: []string{"file_path", "target_file", "path"},
			Repeated: "stopHookActive", Subagent: "subagentType",
			Signature: "hookEventName",
		},
		Answer: HookAnswer{Stop: "block", StopMayQuote: true, StopIsContext: "0"},
		MCP:    MCP{Servers: []string{"config.toml"}, Key: "mcp_servers"},
	},
}

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
		ConfigDir:   ConfigDir{Var: "CLAUDE_CONFIG_DIR", Base: ".claude"},
		SkillDir:    "skills",
		Hooks: Hooks{
			File: "settings.json", Shape: Groups,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "Edit|MultiEdit|Write|NotebookEdit",
		},
		Input: HookInput{
			Session: "session_id", SessionVar: "CLAUDE_CODE_SESSION_ID", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path", "notebook_path"},
			Repeated: "stop_hook_active", Subagent: "agent_id",
		},
		Answer: HookAnswer{Stop: "block", EditIsSpecific: true},
		MCP: MCP{
			Remove:  []string{"mcp", "remove", "-s", "user"},
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
		SkillDir:    "skills",
		Hooks: Hooks{
			File: "hooks.json", FormerFile: "config.toml", Shape: Groups,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "^(apply_patch|Edit|Write)$",
		},
		Input: HookInput{
			Session: "session_id", SessionVar: "CODEX_THREAD_ID", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path"}, Patch: "command",
			Repeated: "stop_hook_active", Subagent: "agent_id",
		},
		Answer: HookAnswer{Stop: "block", EditIsSpecific: true},
		Note:   "approve the guards once with /hooks in Codex",
		MCP: MCP{
			Remove:  []string{"mcp", "remove"},
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
		SkillDir:  "skills",
		Hooks: Hooks{
			File: "hooks.json", Shape: Named,
			StopEvent: "Stop", EditEvent: "PreToolUse",
			WriteTools: "write_to_file|replace_file_content|multi_replace_file_content",
		},
		Input: HookInput{
			Session: "conversationId", SessionVar: "ANTIGRAVITY_CONVERSATION_ID", Dir: "workspacePaths",
			Tool: "toolCall.name", ToolInput: "toolCall.args", Files: []string{"TargetFile"},
			Idle: "fullyIdle",
		},
		Answer: HookAnswer{Stop: "continue", SilenceRefuses: true},
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
		SkillDir:  "skills",
		Hooks: Hooks{
			File: "settings.json", Shape: Groups,
			StopEvent: "AfterAgent", EditEvent: "BeforeTool",
			WriteTools: "^(write_file|replace)$",
			Millis:     true,
		},
		Input: HookInput{
			Session: "session_id", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"file_path"},
			Repeated: "stop_hook_active", Subagent: "agent_id",
		},
		Answer: HookAnswer{Stop: "deny"},
		MCP: MCP{
			Remove:  []string{"mcp", "remove", "-s", "user"},
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
		SkillDir:    "skills",
		Hooks:       Hooks{File: "plugins/talking-stick.js", Shape: Plugin}, // plugin.js knows the rest
		Input: HookInput{
			Session: "session_id", SessionVar: "OPENCODE_RUN_ID", Dir: "cwd",
			Tool: "tool_name", ToolInput: "tool_input", Files: []string{"filePath"}, Patch: "patchText",
			Repeated: "stop_hook_active", Subagent: "agent_id",
		},
		Answer: HookAnswer{Stop: "block"},
		Note:   "restart OpenCode to load the guards",
		MCP: MCP{
			Files:   []string{"opencode.json", "opencode.jsonc", "config.json"},
			Servers: []string{"opencode.jsonc", "opencode.json"}, Key: "mcp",
		},
	},
	{
		ID:          Grok,
		Agent:       "grok",
		Aliases:     []string{"grok-build"},
		Program:     "grok",
		Markers:     []Marker{{"GROK_AGENT", "1"}},
		SessionVars: []string{"GROK_SESSION_ID"},
		ConfigDir:   ConfigDir{Var: "GROK_HOME", Base: ".grok"},
		SkillDir:    "skills",
		Hooks: Hooks{
			File: "hooks/talking-stick.json", Shape: OwnFile, // it reads every JSON file in hooks
			EditEvent:  "PreToolUse",
			WriteTools: "^(Edit|Write|MultiEdit|NotebookEdit|search_replace|write)$", // todo_write writes no file
		},
		Input: HookInput{
			Session: "sessionId", SessionVar: "GROK_SESSION_ID", Dir: "cwd",
			Tool: "toolName", ToolInput: "toolInput", Files: []string{"file_path", "target_file", "path"},
			Repeated: "stopHookActive", Subagent: "subagentType",
			Signature: "hookEventName",
		},
		Answer: HookAnswer{Stop: "block"},
		Note:   "Grok has no hook that can hold back a stop, so there is no stop guard",
		MCP:    MCP{Servers: []string{"config.toml"}, Key: "mcp_servers"},
	},
}

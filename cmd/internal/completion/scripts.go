package completion

import (
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// String returns the answer in the form that the scripts read: a line for each
// candidate, with its description after a tab, and ":files" or ":dirs" for paths.
func (a Answer) String() string {
	var b strings.Builder
	for _, c := range a.Candidates {
		b.WriteString(cli.Line(c.Word))
		if c.What != "" {
			b.WriteString("\t" + cli.Line(c.What))
		}
		b.WriteByte('\n')
	}
	if a.Paths != NoPaths {
		b.WriteString(":" + string(a.Paths) + "\n")
	}
	return b.String()
}

// Shells returns the shells that have a script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script with which the shell completes the program's command
// lines by calling "PROGRAM complete -- WORD…"; "" for an unknown shell.
func Script(shell, program string) string {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	return strings.ReplaceAll(script, "PROGRAM", program)
}

// bashScript joins the words that readline has split: readline ends words at ":" and
// "=", which agent ids and flags contain, and replaces only the last part. The
// script also runs in bash 3.2. It quotes the candidates, because bash inserts them
// unchanged.
const bashScript = `# Completion of PROGRAM for bash. Load with: source <(PROGRAM completion bash)
_PROGRAM() {
    local i n=-1 word rest=$COMP_LINE line current part
    local -a words
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $rest == [![:space:]]* ]]; then
            words[n]+=$word
        else
            words[++n]=$word
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
    done
    current=${words[n]}
    part=$current
    [[ $COMP_WORDBREAKS != *:* ]] || part=${part##*:}
    [[ $COMP_WORDBREAKS != *=* ]] || part=${part##*=}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :dirs)
            i=-f
            [ "$line" = :files ] || i=-d
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$i" -- "$part")
            compopt -o filenames 2>/dev/null
            ;;
        *)
            line=${line%%$'\t'*}
            printf -v line %q "${line#"${current%"$part"}"}"
            COMPREPLY+=("$line")
            ;;
        esac
    done < <(command PROGRAM complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _PROGRAM PROGRAM
`

const zshScript = `#compdef PROGRAM
# Completion of PROGRAM for zsh. Load with: source <(PROGRAM completion zsh)
_PROGRAM() {
    local line paths
    local -a found
    for line in "${(@f)$(command PROGRAM complete -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
        case $line in
        '') ;;
        :files) paths=files ;;
        :dirs) paths=dirs ;;
        *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        *) found+=("${line//:/\\:}") ;;
        esac
    done
    (( $#found )) && _describe 'PROGRAM' found
    [[ -z $paths ]] || compset -P '--*='
    case $paths in
    files) _files ;;
    dirs) _files -/ ;;
    esac
}
if [[ $funcstack[1] == _PROGRAM ]]; then
    _PROGRAM "$@"
else
    compdef _PROGRAM PROGRAM
fi
`

const fishScript = `# Completion of PROGRAM for fish. Load with: PROGRAM completion fish | source
function __PROGRAM_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l flag (string match -r -- '^--[^=]*=' "$current")
    set -l value (string replace -r -- '^--[^=]*=' '' "$current")
    for line in (command PROGRAM complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                for path in (__fish_complete_path "$value")
                    echo "$flag$path"
                end
            case :dirs
                for path in (__fish_complete_directories "$value")
                    echo "$flag$path"
                end
            case '*'
                echo $line
        end
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
`

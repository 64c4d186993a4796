package shell

// table says what programs write. A line has the names of a program, or of a program and
// its subcommand, and a colon. Behind it are:
//
//	all first second last rest third final   which of the words are written; last only if there are two
//	here          the directory of the command, if no such words are given; given: only with words
//	-x:           a flag that has a value
//	into=…        flags that name what is written, instead of the words
//	chdir=…       flags that name the directory
//	only=…        nothing is written without one of these arguments
//	unless=…      nothing is written with one of these arguments
//	below         everything below is written, too
//	destroys      what is taken away may be nowhere else; destroys=… with one of these flags
//	git, index    of git: the whole repository; its index and branches only
//	private       of git: nothing is written if the index is another one
//	remote        words with a colon are on other hosts, or no files
//	known         words of which nothing is known do not count
//	long          -name is --name, and not some flags of one letter
//	prefix=N      what stands behind N words is a command
//	dashes        of a prefix: the command stands behind "--"
//	unknown       what it does is not known, unless it writes
//
//	text          the words are a command as a text: each of those, or else all together
//	run=…         flags whose value is a command as a text
//	clone         the second word, or the name of the repository in the first
//
// Without anything, nothing is written. Of several lines, the last one counts.
const table = `
:|[|true|false|test|expr|echo|printf|print|pwd|ls|dir|vdir|tree|exa|eza|lsd|cat|tac|bat|batcat|nl|head|tail|less|more|most|view|wc:
grep|egrep|fgrep|zgrep|rg|ripgrep|ag|ack|ugrep|look|comm|cmp|diff|diff3|sdiff|colordiff|delta|difft|icdiff|wdiff|dwdiff|cut|paste|join|tr:
rev|fold|fmt|pr|column|expand|unexpand|tsort|shuf|seq|numfmt|od|hexdump|hd|xxd|strings|base32|base64|cksum|sum|b2sum|md5|md5sum|shasum:
sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|file|stat|du|df|readlink|realpath|basename|dirname|pathchk|mktemp|which|whereis|whatis:
type|hash|help|man|info|apropos|tldr|date|cal|uptime|who|whoami|w|id|groups|users|last|logname|hostname|uname|arch|nproc|getconf|locale:
sleep|wait|kill|killall|pkill|pgrep|pidof|ps|pstree|top|htop|btop|free|vmstat|iostat|mpstat|lsof|fuser|jobs|bg|fg|disown|lsblk|lscpu|lsmod:
lsattr|getfattr|getfacl|findmnt|mount|mountpoint|blkid|dmesg|journalctl|systemctl|service|launchctl|sysctl|sw_vers|system_profiler:
ip|ifconfig|ping|ping6|traceroute|dig|host|nslookup|netstat|ss|nc|ncat|telnet|whois|curlie|http|https|httpie|xh|websocat|ssh|ssh-add:
jq|jaq|gron|fx|jo|dsq|miller|mlr|xsv|qsv|csvlook|csvcut|csvgrep|csvstat|yamllint|jsonlint|html2text|lynx|w3m|glow:
getent|getopt|getopts|set|unset|shopt|setopt|unsetopt|ulimit|umask|stty|tput|clear|reset|tty|history|bind|complete|compgen|compdef:
return|break|continue|exit|shift|let|export|declare|typeset|local|readonly|unalias|enable|dirs|suspend|logout|times|caller:
zcat|bzcat|xzcat|zless|zipinfo|zstdcat|lsar|nm|objdump|otool|readelf|size|ldd|c++filt|addr2line|dwarfdump|lipo|codesign|plutil:
gdb|lldb|lldb-mi|dlv|dtrace|dtruss|bpftrace|cloc|tokei|scc|sloccount|dust|duf|procs|loc:
shellcheck|hadolint|actionlint|pylint|flake8|mypy|pyright|pyre|pytype|vulture|bandit|pycodestyle|pydocstyle|staticcheck|errcheck|govulncheck:
vale|gitleaks|trufflehog|semgrep|trivy|grype|syft|commitlint|publint|attw|knip|depcheck|madge|size-limit:
gitk|tig|lazygit|gitui|git-who|onefetch:
tmux|screen|zellij|say|open|xdg-open|pbcopy|pbpaste|xclip|xsel|notify-send|code|cursor|subl|zed|idea:
crontab|at|atq|printenv|locate|mdfind|updatedb|dircolors:
psql|mysql|mariadb|redis-cli|mongosh|ccusage|asciinema:
xcode-select|sha3sum|rhash|jdupes|fdupes|ncdu|getfacl|tmutil:
git annotate|blame|bugreport|cat-file|check-attr|check-ignore|check-mailmap|check-ref-format|cherry|column|commit-graph|commit-tree: into=--output only=--output
git count-objects|credential|daemon|describe|diagnose|diff|diff-files|diff-index|diff-pairs|diff-tree|difftool|fetch|fetch-pack|fmt-merge-msg: into=--output only=--output
git for-each-ref|for-each-repo|fsck|get-tar-commit-id|grep|gui|hash-object|help|hook|http-fetch|http-push|index-pack|instaweb: into=--output only=--output
git interpret-trailers|last-modified|log|ls-files|ls-remote|ls-tree|mailinfo|maintenance|merge-base|merge-tree|mktag|mktree: into=--output only=--output
git multi-pack-index|name-rev|notes|pack-objects|pack-redundant|pack-refs|patch-id|prune-packed|push|range-diff|refs|remote|repack|replace: into=--output only=--output
git repo|request-pull|rerere|rev-list|rev-parse|send-email|send-pack|shortlog|show|show-branch|show-index|show-ref|status|stripspace: into=--output only=--output
git unpack-file|unpack-objects|update-server-info|var|verify-commit|verify-pack|verify-tag|version|whatchanged|write-tree: into=--output only=--output
eval: text
trap: first text
watch: text -n: --interval:
hyperfine: all text -w: --warmup: -r: --runs: -n: -L: -m: -M: run=-p,--prepare,-s,--setup,-c,--cleanup
su: run=-c -s: -g:
flock: prefix=1 -w: --timeout: -E: --conflict-exit-code:
script: first prefix=1 run=-c,--command -t: -m: -o:
command: prefix=0 unless=-v,-V
rm|grm: all destroys destroys=-r,-R,--recursive
chmod|gchmod: final below --reference:
json.tool: second --indent:
sudo: prefix=0 -u: -g: -p: -C: -h: -r: -t: -U: chdir=-D,--chdir
doas: prefix=0 -u: -C:
nice|gnice|ionice|renice: prefix=0 -n: -c: -p:
caffeinate|unshare|systemd-run|pkexec|nohup|setsid|builtin|noglob|nocorrect|busybox|toybox|proxychains|proxychains4|torsocks|chronic|rtk|ltrace|valgrind|xvfb-run|entr|catchsegv|unbuffer|winpty|eatmydata|firejail|dbus-run-session|fakeroot|ssh-agent: prefix=0
time|gtime: prefix=0 -f: -o:
strace: prefix=0 -e: -o: -p: -s: -P:
stdbuf: prefix=0 -i: -o: -e:
exec: prefix=0 -a:
timeout|gtimeout: prefix=1 -s: -k: --signal: --kill-after:
perf stat|record: prefix=0 -e: -o: -r:
dotenvx|op|doppler|infisical run: prefix=0 dashes
dotenv: prefix=0 dashes
tt lock run: prefix=1 dashes --timeout:
tt job run: prefix=0 dashes --name: --timeout:
tt:
mise|asdf|rbenv|pyenv|nodenv|volta|nvm|fnm|direnv|rustup|hermit|devbox: unknown
mise exec|x: prefix=0
asdf|rbenv|pyenv|nodenv|volta|fnm exec|run: prefix=0
rustup run: prefix=1
direnv|nvm exec: prefix=1
conda|mamba|micromamba run: prefix=0 -n: -p: --name: --prefix:
nix: unknown
nix flake update: here
bundle exec: prefix=0
bundle:
bundle add|update|remove|lock|init: here
uv|poetry|pdm|hatch|pipenv|rye|pixi: -C: chdir=--directory,--project,-P
uv|poetry|pdm|hatch|pipenv|rye|pixi run: prefix=0 --with: --python: -p: --group: --extra: --env-file: --package: --with-requirements: chdir=--directory,--project
uv|poetry|pdm|rye|pipenv|pixi add|remove|lock|update|upgrade|init|new: here unless=--check,--dry-run chdir=--directory,--project
uv|poetry version: here given unless=--dry-run
uv pip:
uv pip compile: into=-o,--output-file only=-o,--output-file
uv export: into=-o,--output-file only=-o,--output-file
uv tool run: prefix=0 --from: --with: -p: --python:
pip-compile: here into=-o,--output-file unless=--dry-run,-n
pipenv install|uninstall: here given
pip|pip3:
composer: unknown chdir=-d,--working-dir
composer require|update|remove|bump|init: here unless=--dry-run
composer install|show|outdated|validate|audit|dump-autoload|check-platform-reqs|why|licenses|search|info:
composer exec: prefix=0
npm|pnpm|yarn|bun: chdir=--prefix,-C,--dir,--cwd --filter: -F: -w: --workspace:
npm|pnpm|yarn|bun i|install|add|in|isntall|uninstall|un|unlink|remove|rm|r|update|up|upgrade|dedupe|init|create|import|patch-commit|shrinkwrap|set|link: here chdir=--prefix,-C,--dir,--cwd unless=--frozen-lockfile,--immutable,--no-save,--dry-run,--no-lockfile,--pure-lockfile,--no-package-lock,--package-lock=false,--lockfile=false,-g,--global,--location=global
npm|pnpm|yarn|bun ci|ls|list|ll|la|view|v|info|show|outdated|explain|why|root|bin|prefix|config|c|get|ping|search|docs|repo|whoami|pack|publish|cache|doctor|fund|help|licenses|login|logout|store|env|global|prune|rebuild|rb|link|unlink|token|owner|access|completion|fetch|workspaces|audit|query|sbom|org|team|deprecate|dist-tag|bugs|star|hook|pm:
npm|pnpm|yarn audit fix: here unless=--dry-run chdir=--prefix
npm|pnpm|yarn version: here given chdir=--prefix
npm pkg set|delete|fix: here
npm|pnpm|yarn|bun exec|x|dlx: prefix=0 -p: --package:
npx|bunx|pnpx|uvx: prefix=0 -p: --package: --from: --with: --python:
pipx run: prefix=0 --spec:
pipx:
deno: unknown
deno add|remove|install|update: here unless=-g,--global
go: chdir=-C
go get: here
go fmt|fix|generate: here unless=-n chdir=-C
go mod|work:
go mod tidy: here unless=-diff
go mod init|vendor: here
go mod edit: here unless=-json,-print
go work init|use|sync|edit: here unless=-json,-print
zig|gleam|cue|nix|packer|dune|deno|terraform|tofu|taplo|dprint|uv|hatch|dotnet|mix fmt|format|promote: all here unless=--check,-check,--diff,-diff,-d,--check-formatted,--dry-run,--verify-no-changes --ext: -c: --config: -write: chdir=-chdir
stylua|swiftformat|scalafmt|elm-format|rustfmt|yamlfmt|ktfmt|nixfmt|alejandra: all here unless=--check,-c,-n,--dry-run,--test,--list,--lint,-lint,--validate,--emit,--print-config --config: --config-path: --edition: --rules:
swift-format|ormolu|fourmolu|google-java-format|jsonnetfmt|latexindent|pg_format|ktlint: all here only=-i,-w,-F,--in-place,--inplace,--replace,--overwrite,--format -c: --configuration:
swiftlint|clang-tidy|comby: all here long only=--fix,--fix-errors,--autocorrect,-i,--in-place unless=--stdin -p:
swift|buf|opa format|fmt: all here only=-i,--in-place,-w,--write
gofmt|goimports|gofumpt|golines|gci|goimports-reviser: all here only=-w -r: -local: -srcdir: -m:
gci write: all here
golangci-lint run: here only=--fix
golangci-lint fmt: here unless=-d,--diff
golangci-lint:
cargo: unknown --manifest-path: --config: -p: --package: chdir=-C
cargo fmt: here unless=--check,-l
cargo fix|add|remove|rm|update|init|upgrade|generate-lockfile|set-version|sort|vendor|generate: here unless=--dry-run,--check,-n
cargo clippy: here only=--fix
cargo new: first --name: --edition: --vcs:
cargo build|b|check|c|test|t|bench|doc|d|metadata|tree|search|install|uninstall|publish|package|login|nextest|clean|version|help|locate-project|audit|deny|outdated|machete|udeps|expand|llvm-cov|tarpaulin|miri|hack|insta|pkgid|fetch|verify-project:
dotnet add|new|remove|sln: here unless=list,--list,search,details,install,uninstall
flutter|dart create: here
flutter|dart format: all here unless=--set-exit-if-changed,--output=none,--output=show,-o -l: --line-length:
terraform|tofu: unknown chdir=-chdir
buildifier: all here unless=-mode=check,-mode=diff,--mode=check,--mode=diff,-d -mode: --mode: --lint: -lint:
mvn|mvnw|gradle|gradlew|sbt: here unknown only=spotlessApply,spotless:apply,ktlintFormat,formatter:format,fmt:format,formatKotlin,googleJavaFormat,versions:set,scalafmtAll,scalafmt,detektFix,rewriteRun
prettier|prettierd: all here only=-w,--write unless=--check,-c,-l,--list-different --config: --parser: --ignore-path: --plugin: --log-level: --loglevel: --print-width: --tab-width: --config-precedence: --cache-location: --end-of-line: --prose-wrap: --trailing-comma:
eslint|stylelint|standard|xo|oxlint|tslint|markdownlint|markdownlint-cli2|semistandard|ts-standard|textlint|eslint_d|remark: all here only=--fix unless=--fix-dry-run --ext: -c: --config: --rule: --ignore-path: --ignore-pattern: -f: --format: --parser: --plugin: --resolve-plugins-relative-to: --rulesdir: --max-warnings: --project: -p: -o: --cache-location: --cache-strategy: --fix-type: -A: -D: -W:
biome: all here only=--write,--apply,--fix,--apply-unsafe --config-path: --log-level: --diagnostic-level: --max-diagnostics: --since: --only: --skip:
biome check|format|lint|ci: all here only=--write,--apply,--fix,--apply-unsafe --config-path: --log-level: --diagnostic-level: --max-diagnostics: --since: --only: --skip:
clang-format: all long only=-i --style:
cmake-format|gersemi|autopep8|yapf|autoflake|docformatter|add-trailing-comma: all here only=-i,--in-place,--in-place -r: --style: --config: --max-line-length:
black|isort|pyupgrade|usort|ufmt|pyink|blue|darker|mdformat|yamlfix|sqlfmt|nbstripout|reorder-python-imports|ssort|unify|flynt|ssort: all here unless=--check,--diff,--check-only,-c,--lint,--dry-run,--version,-h --config: --line-length: -l: --profile: -t: --target-version: --exclude: --include: --extend-exclude: --sp: --settings-path: --wrap: --workers: -W: --src: --sl: -p: --project: --known-third-party: --skip: --stdin-filename: -x:
ruff format: all here unless=--check,--diff --config: --line-length: --target-version: --exclude: --stdin-filename: --range:
ruff: all here only=--fix,--fix-only,--add-noqa unless=--diff --config: --select: --ignore: --extend-select: --extend-ignore: --output-format: --target-version: --exclude: --line-length: --per-file-ignores: --fixable: --unfixable:
ruff check: all here only=--fix,--fix-only,--add-noqa unless=--diff --config: --select: --ignore: --extend-select: --extend-ignore: --output-format: --target-version: --exclude: --line-length: --per-file-ignores: --fixable: --unfixable:
rubocop|standardrb|erb_lint|erblint|haml-lint|slim-lint|standardrb: all here only=-a,-A,--auto-correct,--auto-correct-all,--autocorrect,--autocorrect-all,-x,--fix-layout,--fix --only: --except: --format: -f: --config: -c: -o: --out:
php-cs-fixer fix: all here unless=--dry-run --config: --rules:
phpcbf|pint|ecs: all here unless=--test --standard: --config: --preset:
rector process: all here unless=--dry-run,-n
shfmt: all here only=-w,--write -i: --indent: -ln: --language-dialect:
jscodeshift|codemod|fastmod|ts-migrate: all here unless=-d,--dry,--dry-run -t: --transform: --parser: --extensions: -e: --ignore-pattern:
ast-grep|sg: all here only=-U,--update-all,-i,--interactive -p: -r: -l: -c: --pattern: --rewrite: --lang:
ast-grep|sg run|scan: all here only=-U,--update-all -p: -r: -l: -c: --pattern: --rewrite: --lang: --inline-rules: --rule:
lint-staged|changeset|standard-version|release-it|semantic-release|commit-and-tag-version|bump2version|bumpversion|bump-my-version: here unless=--dry-run,--check,-n,status,--no-git-tag
changeset status:
lerna version|publish: here
pre-commit autoupdate|install|uninstall|migrate-config: here
shred|unlink|srm|trash|trash-put|rmtrash|wipe: all destroys -n: -s:
rmdir|grmdir: all
rimraf|del|del-cli|trash-cli|premove: all below destroys
shx: prefix=0
mkdirp:
touch|gtouch|mkfifo: all -d: -t: -r: --date: --reference:
truncate: all destroys -s: -r: --size: --reference:
tee|gtee|sponge|vipe: all
dos2unix|unix2dos|mac2unix: all unless=-i,--info
chown|chgrp|xattr|chattr|setfacl: rest below --reference: -m: -x:
mkdir|gmkdir:
mv|gmv|rename|prename|mmv|perl-rename: all below into=-t,--target-directory -S:
cp|gcp|ditto: last into=-t,--target-directory -S: --suffix:
install|ginstall: last into=-t,--target-directory unless=-d,--directory -m: -o: -g: -S: --mode: --owner: --group:
ln|gln|link: last here into=-t,--target-directory -S:
scp|rclone|gsutil|adb: last remote -i: -P: -F: -o: -l: -J: -c:
docker|podman|kubectl|nerdctl cp: last remote -n: -c: --namespace:
rsync: last remote unless=-n,--dry-run,--list-only destroys=--delete,--delete-after,--delete-before,--delete-during,--delete-excluded,--del,--remove-source-files -e: --rsh: --exclude: --include: --filter: -f: --exclude-from: --include-from: --files-from: --bwlimit: --chmod: --log-file: --partial-dir: --backup-dir:
split|gsplit: second here -l: -b: -n: -a: -C: --lines: --bytes: --number:
sort|gsort: into=-o,--output only=-o,--output -k: -t: -S: -T: --key: --parallel:
uniq: second -f: -s: -w:
yq: rest only=-i,--inplace -p: -o:
sd: third unless=-p,--preview -n: -f: --max-replacements: --flags:
unzip: here below into=-d unless=-l,-p,-t,-Z,-z,-v,-c -x: -P:
7z|7za|7zz x|e: here below into=-o
7z|7za|7zz a|u|d|rn: first
zip: first unless=-sf -x: -i: -b: -n: -P:
gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|pigz|lz4: all unless=-c,-t,-l,-k,--stdout,--to-stdout,--test,--list,--keep,-h -S: -T: --threads:
zstd|unzstd: second only=-o,--rm into=-o
curl: here only=-O,--remote-name,--remote-name-all,-o,--output,-D,--dump-header,-c,--cookie-jar into=-o,--output,--output-dir,-D,--dump-header,-c,--cookie-jar -X: -H: -d: -u: -A: -e: -b: -F: -T: -w: -m: -x: -K: -E: -r: -C: -y: -Y: -z: -t: -Q: --data: --data-raw: --data-binary: --data-urlencode: --header: --request: --user: --form: --url: --max-time: --connect-timeout: --retry: --retry-delay: --retry-max-time: --write-out: --user-agent: --cookie: --cacert: --cert: --key: --resolve: --proxy: --json: --unix-socket: --limit-rate: --referer: --upload-file: --max-redirs:
wget|wget2: here into=-O,--output-document,-P,--directory-prefix unless=--spider -t: -T: -U: -e: -o: -a: -A: -R: -D: -I: -X: --header: --user-agent: --post-data: --timeout: --tries: --method: --body-data: --user: --password:
aria2c|axel: here into=-o,-d,--out,--dir
patch|gpatch: first here into=-d,-o,--directory,--output unless=--dry-run -p: -i: --strip: --input: -F: -D: -V: -z: -B: -Y: -r:
ed|ex|red: all -c: -p:
vim|vi|nvim|nano|emacs|micro|hx|joe|pico|kak: all unless=-R,q!,:q!,qa!,:qa! -c: -S: --cmd: -u: -i: -l: --eval: -f: -L: --load:
convert|magick|ffmpeg: last remote long unless=--list,--formats,--codecs,identify
cwebp|rsvg-convert|optipng|pngquant: last into=-o,--output
pandoc|mmdc|plantuml: into=-o,--output only=-o,--output
dot|neato|xmllint|iconv: long into=-o,--output only=-o,--output
openssl: into=-out,-keyout only=-out,-keyout
ssh-keygen: into=-f only=-f unless=-l,-F,-y,-L,-E
cpio: final here only=-i,-p,--extract,--pass-through unless=-t,--list -H: -F: -R: -I: -C: chdir=-D,--directory
jar xf|-xf|x: here
hg revert|purge|clean: git destroys unless=-n,--dry-run
jj new|edit|abandon|rebase|squash|restore|undo: git
svn revert|update|switch|merge: git destroys
hg revert|purge|update|rebase|shelve|strip|commit: git destroys unless=-n,--dry-run
gh pr|co checkout|co: git
gh co: git
gh pr merge: git only=-d,--delete-branch unless=-R,--repo
gh issue develop: git only=-c,--checkout
gh repo sync: git unless=--source,-s,-b
gh run|release download: here into=-D,--dir,-O,--output -p: --pattern: -n: --name: -R: --repo: -A:
gh:
gh repo|gist clone: clone -u: --upstream-remote-name:
git add|stage: index private unless=-n,--dry-run
git update-index: index private
git update-index --refresh|--really-refresh|--test-untracked-cache:
git rm: git destroys=-f,--force unless=-n,--dry-run
git rm --cached: index private unless=-n,--dry-run
git mv: git unless=-n,--dry-run
git commit: index unless=--dry-run,--short,--porcelain,--long -m: -F: -C: -c: -t: --message: --file: --author: --date: --trailer: --fixup: --squash: --reuse-message: --reedit-message: --template: --cleanup:
git reset: index private
git reset --hard|--merge|--keep: git destroys
git checkout: git destroys
git checkout -b|-B|--orphan: git
git switch: git destroys=--discard-changes,-f,--force
git restore: git destroys
git restore --staged|-S: index private
git restore --worktree|-W|-SW|-WS: git destroys
git clean: git destroys unless=-n,--dry-run -e: --exclude:
git clone: clone -b: --branch: --depth: -o: --origin: --filter: -c: --config: --reference: -j: --jobs: -u:
git symbolic-ref: second below -m:
git stash: git unless=--dry-run
git stash list|show|create:
git stash drop|clear: git destroys
git stash store|export|import: index
git merge|rebase|cherry-pick|revert|pull|am|citool|filter-branch|filter-repo|absorb|sync|undo|revise: git destroys=--abort,--skip,--quit,--autostash unless=--show-current-patch,--dry-run -m: -X: -s: -x: --onto:
git subtree add|merge|pull: git
git subtree push|split:
git svn rebase|dcommit|reset: git
git mergetool: git
git apply: git unless=--check,--stat,--numstat,--summary -p: --directory: --exclude: --include:
git apply --apply: git
git apply --cached: index private unless=--check,--stat,--numstat,--summary
git read-tree: index private unless=-n,--dry-run into=--index-output
git read-tree -u|--reset|-um|-mu: git destroys
git checkout-index: git destroys=-f,--force unless=--temp into=--prefix
git update-ref: index -m:
git branch: index destroys only=-m,-M,--move,-C,-f,--force unless=-d,-D,--delete -u: --set-upstream-to:
git tag: index only=-d,--delete,-f,--force -m: -F: -u: --sort: --format:
git worktree add: first -b: -B: --reason:
git worktree remove: first known below destroys
git worktree move: all below
git worktree list|prune|lock|unlock|repair:
git gc: index destroys only=--prune=now,--prune=all
git prune: index destroys unless=-n,--dry-run --expire:
git reflog:
git reflog expire|delete: index destroys unless=-n,--dry-run
git bisect: git
git bisect log|view|visualize|terms|help:
git submodule:
git submodule foreach: text
git submodule update|add|sync|absorbgitdirs|init|set-branch|set-url: git
git submodule deinit: git destroys
git sparse-checkout: git
git sparse-checkout list|check-rules:
git lfs:
git lfs pull|checkout|migrate|track|untrack: git
git lfs migrate info:
git format-patch: here into=-o,--output-directory unless=--stdout
git archive: into=-o,--output only=-o,--output
git bundle:
git bundle create: first
git merge-file: first unless=-p,--stdout -L:
git fast-import: index
`

package shell

// table says what programs write. A line has the names of a program, or of a program and
// its subcommand, and a colon. Behind it are:
//
//	all first second last rest third   which of the words are written
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
//	remote        words with a colon are on other hosts
//	prefix=N      what stands behind N words is a command
//	dashes        of a prefix: the command stands behind "--"
//	unknown       what it does is not known
//
// Without anything, nothing is written.
const table = `
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
nohup|setsid|builtin|noglob|nocorrect|busybox|toybox|proxychains|proxychains4|torsocks|chronic|rtk|ltrace|valgrind|xvfb-run|entr|catchsegv|unbuffer|winpty|eatmydata|firejail|dbus-run-session|fakeroot: prefix=0
time|gtime: prefix=0 -f: -o:
strace: prefix=0 -e: -o: -p: -s: -P:
stdbuf: prefix=0 -i: -o: -e:
exec: prefix=0 -a:
chrt|taskset: prefix=1
timeout|gtimeout: prefix=1 -s: -k: --signal: --kill-after:
faketime|cpulimit: prefix=1
caffeinate: prefix=0 -t: -w:
systemd-run: prefix=0 -p: -u: --unit: chdir=--working-directory
systemd-inhibit|pkexec: prefix=0
runuser: prefix=0 -u: -g:
unshare|nsenter: prefix=0
perf stat|record: prefix=0 -e: -o: -r:
tt lock run: prefix=1 dashes --timeout:
tt job run: prefix=0 dashes --name: --timeout:
tt:
dotenvx|doppler|infisical|op|teller|varlock: unknown -e: -f: --env-file:
dotenvx|doppler|infisical|op|teller|varlock run: prefix=0 -e: -f: --env-file:
dotenv: prefix=0 -e: -f: -c:
aws-vault exec: prefix=1
mise|asdf|rbenv|pyenv|nodenv|volta|nvm|fnm|direnv|rustup|hermit|devbox: unknown
mise exec|x: prefix=0
asdf|rbenv|pyenv|nodenv|volta|fnm exec|run: prefix=0
rustup run: prefix=1
direnv|nvm exec: prefix=1
conda|mamba|micromamba run: prefix=0 -n: -p: --name: --prefix:
nix: unknown
nix fmt: all here
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
uv format: here unless=--check,--diff
uv tool run: prefix=0 --from: --with: -p: --python:
pip-compile: here into=-o,--output-file
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
deno fmt: all here unless=--check --ext: -c: --config:
deno add|remove|install|update: here unless=-g,--global
deno lint: all here only=--fix
go: chdir=-C
go get: here
go fmt|fix|generate: here unless=-n chdir=-C
go mod|work:
go mod tidy: here unless=-diff
go mod init|vendor: here
go mod edit: here unless=-json,-print
go work init|use|sync|edit: here unless=-json,-print
gofmt|goimports|gofumpt|golines|gci|goimports-reviser: all here only=-w -r: -local: -srcdir: -m:
gci write: all here -s: --section:
golangci-lint run: here only=--fix
golangci-lint fmt: here unless=-d,--diff
golangci-lint:
cargo: unknown --manifest-path: --config: -p: --package: chdir=-C
cargo fmt: here unless=--check,-l
cargo fix|add|remove|rm|update|init|upgrade|generate-lockfile|set-version|sort|vendor|generate: here unless=--dry-run,--check,-n
cargo clippy: here only=--fix
cargo insta accept|review|reject: here
cargo insta test: here only=--accept
cargo new: first --name: --edition: --vcs:
cargo build|b|check|c|test|t|bench|doc|d|metadata|tree|search|install|uninstall|publish|package|login|nextest|clean|version|help|locate-project|audit|deny|outdated|machete|udeps|expand|llvm-cov|tarpaulin|miri|hack|insta|pkgid|fetch|verify-project:
rustfmt: all here unless=--check,--emit --edition: --config: --config-path:
dotnet format: here unless=--verify-no-changes
dotnet add|new|remove|sln: here
flutter|dart create: here
flutter|dart format: all here unless=--set-exit-if-changed,--output=none,--output=show,-o -l: --line-length:
dart fix: here only=--apply
flutter|dart pub add|remove|upgrade: here
mix format: here unless=--check-formatted,--dry-run
mix deps.update: here
swift format: all here only=-i,--in-place
swift-format: all here only=-i,--in-place --configuration:
swiftformat: all here unless=--lint,--dryrun --config: --swiftversion: --rules: --disable:
swiftlint: here only=--fix,--autocorrect
ktlint: all here only=-F,--format
ktfmt: all here unless=-n,--dry-run
google-java-format: all only=-i,--replace
scalafmt: all here unless=--check,--test,--list -c: --config:
ormolu|fourmolu|stylish-haskell|cabal-fmt|ocamlformat|hindent|brittany: all here only=-i,--inplace,--in-place,--mode,-c
dune fmt|promote: here
elm-format: all here unless=--validate
zig fmt: all here unless=--check
gleam format: all here unless=--check
crystal tool format: all here unless=--check
nixfmt|nixpkgs-fmt|alejandra: all here unless=--check,-c
statix fix: here
terraform|tofu: unknown chdir=-chdir
terraform|tofu fmt: all here unless=-check,-diff -write: chdir=-chdir
packer fmt: all here unless=-check
terragrunt hclfmt|hcl: here
opa fmt: all only=-w,--write
cue fmt: all here
jsonnetfmt: all only=-i,--in-place
buf format: all here only=-w,--write
buildifier: all here unless=-mode=check,-mode=diff,--mode=check,--mode=diff,-d -mode: --mode: --lint: -lint:
mvn|mvnw|gradle|gradlew|sbt: here unknown only=spotlessApply,spotless:apply,ktlintFormat,formatter:format,fmt:format,formatKotlin,googleJavaFormat,versions:set,scalafmtAll,scalafmt,detektFix,rewriteRun
just: here only=--fmt
prettier|prettierd: all here only=-w,--write unless=--check,-c,-l,--list-different --config: --parser: --ignore-path: --plugin: --log-level: --loglevel: --print-width: --tab-width: --config-precedence: --cache-location: --end-of-line: --prose-wrap: --trailing-comma:
eslint|stylelint|standard|xo|oxlint|tslint|markdownlint|markdownlint-cli2|semistandard|ts-standard|textlint|eslint_d|remark: all here only=--fix unless=--fix-dry-run --ext: -c: --config: --rule: --ignore-path: --ignore-pattern: -f: --format: --parser: --plugin: --resolve-plugins-relative-to: --rulesdir: --max-warnings: --project: -p: -o: --cache-location: --cache-strategy: --fix-type: -A: -D: -W:
biome: all here only=--write,--apply,--fix,--apply-unsafe --config-path: --log-level: --diagnostic-level: --max-diagnostics: --since: --only: --skip:
biome check|format|lint|ci: all here only=--write,--apply,--fix,--apply-unsafe --config-path: --log-level: --diagnostic-level: --max-diagnostics: --since: --only: --skip:
rome format|check: all here only=--write,--apply
dprint fmt: all here unless=--diff -c: --config:
dprint check:
clang-format: all only=-i --style: -style:
clang-tidy: all here only=--fix,-fix,--fix-errors,-fix-errors -p: --checks: -checks: -config-file: --config-file:
clang-apply-replacements: all
cmake-format|gersemi|autopep8|yapf|autoflake|docformatter|add-trailing-comma: all here only=-i,--in-place,--in-place -r: --style: --config: --max-line-length:
black|isort|pyupgrade|usort|ufmt|pyink|blue|darker|mdformat|yamlfix|sqlfmt|nbstripout|reorder-python-imports|ssort|unify|flynt|ssort: all here unless=--check,--diff,--check-only,-c,--lint,--dry-run,--version,-h --config: --line-length: -l: --profile: -t: --target-version: --exclude: --include: --extend-exclude: --sp: --settings-path: --wrap: --workers: -W: --src: --sl: -p: --project: --known-third-party: --skip: --stdin-filename: -x:
ruff format: all here unless=--check,--diff --config: --line-length: --target-version: --exclude: --stdin-filename: --range:
ruff: all here only=--fix,--fix-only,--add-noqa unless=--diff --config: --select: --ignore: --extend-select: --extend-ignore: --output-format: --target-version: --exclude: --line-length: --per-file-ignores: --fixable: --unfixable:
ruff check: all here only=--fix,--fix-only,--add-noqa unless=--diff --config: --select: --ignore: --extend-select: --extend-ignore: --output-format: --target-version: --exclude: --line-length: --per-file-ignores: --fixable: --unfixable:
djlint: all here only=--reformat --profile:
sqlfluff fix|format: all here --dialect: -d: --rules: -r:
pg_format: all only=-i,--inplace
rubocop|standardrb|erb_lint|erblint|haml-lint|slim-lint|standardrb: all here only=-a,-A,--auto-correct,--auto-correct-all,--autocorrect,--autocorrect-all,-x,--fix-layout,--fix --only: --except: --format: -f: --config: -c: -o: --out:
php-cs-fixer fix: all here unless=--dry-run --config: --rules:
phpcbf|pint|ecs: all here unless=--test --standard: --config: --preset:
rector process: all here unless=--dry-run,-n
stylua: all here unless=--check,--output-format=summary --config-path: -g:
shfmt: all here only=-w,--write -i: --indent: -ln: --language-dialect:
beautysh: all here unless=--check
taplo fmt|format: all here unless=--check
yamlfmt: all here unless=-lint,--lint,-dry,--dry -conf: --conf:
latexindent: all only=-w,--overwrite
cljfmt fix: here
jscodeshift|codemod|fastmod|ts-migrate: all here unless=-d,--dry,--dry-run -t: --transform: --parser: --extensions: -e: --ignore-pattern:
ast-grep|sg: all here only=-U,--update-all,-i,--interactive -p: -r: -l: -c: --pattern: --rewrite: --lang:
ast-grep|sg run|scan: all here only=-U,--update-all -p: -r: -l: -c: --pattern: --rewrite: --lang: --inline-rules: --rule:
comby: here only=-i,-in-place,--in-place
lint-staged|changeset|standard-version|release-it|semantic-release|commit-and-tag-version|bump2version|bumpversion|bump-my-version: here unless=--dry-run,--check,-n,status,--no-git-tag
changeset status:
lerna version|publish: here
pre-commit autoupdate|install|uninstall|migrate-config: here
shred|unlink|srm|trash|trash-put|rmtrash|wipe: all destroys -n: -s:
rmdir|grmdir: all
rimraf|del|del-cli|trash-cli|premove: all below destroys
shx: prefix=0
cpx|ncp|copyfiles|cpy: last
replace-in-file|rexreplace: third
mkdirp:
touch|gtouch: all -d: -t: -r: --date: --reference:
mkfifo|mknod: first
truncate: all destroys -s: -r: --size: --reference:
fallocate: all -l: -o: --length:
tee|gtee|sponge|vipe|dos2unix|unix2dos|mac2unix: all
chown|chgrp|xattr|chattr|setfacl: rest below --reference: -m: -x:
mkdir|gmkdir:
mv|gmv|rename|prename|mmv|perl-rename: all below into=-t,--target-directory -S:
cp|gcp|ditto: last into=-t,--target-directory -S: --suffix:
install|ginstall: last into=-t,--target-directory unless=-d,--directory -m: -o: -g: -S: --mode: --owner: --group:
ln|gln|link: last here into=-t,--target-directory -S:
scp|rclone|gsutil|adb: last remote -i: -P: -F: -o: -l: -J: -c:
rclone|gsutil copy|sync|move|copyto|cp|rsync: last remote
adb pull: last
aws s3 cp|sync|mv: last remote --exclude: --include: --profile: --region:
docker|podman|kubectl|nerdctl cp: last remote -n: -c: --namespace:
rsync: last remote unless=-n,--dry-run,--list-only destroys=--delete,--delete-after,--delete-before,--delete-during,--delete-excluded,--del,--remove-source-files -e: --rsh: --exclude: --include: --filter: -f: --exclude-from: --include-from: --files-from: --bwlimit: --chmod: --log-file: --partial-dir: --backup-dir:
split|gsplit: second here -l: -b: -n: -a: -C: --lines: --bytes: --number:
csplit: here -f: -n: -b:
sort|gsort: into=-o,--output only=-o,--output -k: -t: -S: -T: --key: --parallel:
uniq: second -f: -s: -w:
yq: rest only=-i,--inplace -p: -o:
dasel put|delete: all into=-f,-w,-o
crudini: second only=--set,--del,--merge
sd: third unless=-p,--preview -n: -f: --max-replacements: --flags:
unzip: here below into=-d unless=-l,-p,-t,-Z,-z,-v,-c -x: -P:
7z|7za|7zz x|e: here below into=-o
7z|7za|7zz a|u|d|rn: first
unrar|unar x|e: here
cpio: here only=-i,--extract chdir=-D,--directory
ar: first
zip: first -x: -i: -b: -n: -P:
gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|pigz|lz4: all unless=-c,-t,-l,-k,--stdout,--to-stdout,--test,--list,--keep,-h -S: -T: --threads:
zstd|unzstd: second only=-o,--rm into=-o
curl: here only=-O,--remote-name,--remote-name-all,-o,--output,-D,--dump-header,-c,--cookie-jar into=-o,--output,--output-dir,-D,--dump-header,-c,--cookie-jar -X: -H: -d: -u: -A: -e: -b: -F: -T: -w: -m: -x: -K: -E: -r: -C: -y: -Y: -z: -t: -Q: --data: --data-raw: --data-binary: --data-urlencode: --header: --request: --user: --form: --url: --max-time: --connect-timeout: --retry: --retry-delay: --retry-max-time: --write-out: --user-agent: --cookie: --cacert: --cert: --key: --resolve: --proxy: --json: --unix-socket: --limit-rate: --referer: --upload-file: --max-redirs:
wget|wget2: here into=-O,--output-document,-P,--directory-prefix unless=--spider -t: -T: -U: -e: -o: -a: -A: -R: -D: -I: -X: --header: --user-agent: --post-data: --timeout: --tries: --method: --body-data: --user: --password:
aria2c|axel: here into=-o,-d,--out,--dir
patch|gpatch: first here into=-d,-o,--directory,--output unless=--dry-run -p: -i: --strip: --input: -F: -D: -V: -z: -B: -Y: -r:
ed|ex|red: all -c: -p:
vim|vi|nvim|nano|emacs|micro|hx|joe|pico|kak: all unless=-R -c: -S: --cmd: -u: -i: -l: --eval: -f: -L: --load:
convert|magick|ffmpeg|cwebp|rsvg-convert|optipng|pngquant: last unless=-version,-list,-formats,-codecs into=-o,--output
pandoc|dot|mmdc|plantuml|neato: into=-o,--output only=-o,--output
openssl: into=-out,-keyout only=-out,-keyout
ssh-keygen: into=-f only=-f unless=-l,-F,-y,-L,-E
xmllint: into=-o,--output only=-o,--output
tidy: all only=-m,-modify
screencapture|scrot: all
jar xf|-xf|x: here
jj: git
jj log|st|status|diff|show|evolog|obslog|op|operation|help|config|root|version|file|git|interdiff|bookmark|b|tag|util|workspace:
svn up|update|switch|sw|merge|commit|ci|rm|mv|delete|cleanup|add|copy|cp|move|patch|resolve: git
svn revert: git destroys
hg update|up|commit|ci|shelve|strip|merge|rebase|pull|checkout|co|import|histedit|amend|graft|unshelve|add|rm|remove|mv|rename|backout|uncommit|evolve|absorb: git unless=-n,--dry-run
hg revert|purge|clean: git destroys unless=-n,--dry-run
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
git worktree remove: first below destroys
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

// readers are programs that change no file, whatever their arguments are.
const readers = `
: [ true false test expr echo printf print pwd ls dir vdir tree exa eza lsd cat tac bat batcat nl head tail less more most view wc
grep egrep fgrep zgrep rg ripgrep ag ack ugrep look comm cmp diff diff3 sdiff colordiff delta difft icdiff wdiff dwdiff cut paste join tr
rev fold fmt pr column expand unexpand tsort shuf seq numfmt od hexdump hd xxd strings base32 base64 cksum sum b2sum md5 md5sum shasum
sha1sum sha224sum sha256sum sha384sum sha512sum file stat du df readlink realpath basename dirname pathchk mktemp which whereis whatis
type hash help man info apropos tldr date cal uptime who whoami w id groups users last logname hostname uname arch nproc getconf locale
sleep wait kill killall pkill pgrep pidof ps pstree top htop btop free vmstat iostat mpstat lsof fuser jobs bg fg disown lsblk lscpu lsmod
lsattr getfattr getfacl findmnt mount mountpoint blkid dmesg journalctl systemctl service launchctl sysctl sw_vers system_profiler
ip ifconfig ping ping6 traceroute dig host nslookup netstat ss nc ncat telnet whois curlie http https httpie xh websocat ssh ssh-add
jq jaq gron fx jo dsq miller mlr xsv qsv csvlook csvcut csvgrep csvstat yamllint jsonlint html2text lynx w3m glow
getent getopt getopts set unset shopt setopt unsetopt ulimit umask stty tput clear reset tty history bind complete compgen compdef
return break continue exit shift let export declare typeset local readonly unalias enable dirs suspend logout times caller
zcat bzcat xzcat zless zipinfo zstdcat lsar nm objdump otool readelf size ldd c++filt addr2line dwarfdump lipo codesign plutil
gdb lldb lldb-mi dlv dtrace dtruss bpftrace cloc tokei scc sloccount dust duf procs loc
shellcheck hadolint actionlint pylint flake8 mypy pyright pyre pytype vulture bandit pycodestyle pydocstyle staticcheck errcheck govulncheck
vale gitleaks trufflehog semgrep trivy grype syft commitlint publint attw knip depcheck madge size-limit
gitk tig lazygit gitui git-who onefetch
tmux screen zellij say open xdg-open pbcopy pbpaste xclip xsel notify-send code cursor subl zed idea
crontab at atq printenv locate mdfind updatedb dircolors
psql mysql mariadb redis-cli mongosh ccusage asciinema
xcode-select sha3sum rhash jdupes fdupes ncdu getfacl tmutil
`

// gitReaders are commands of git that change neither the working tree nor the index nor a
// branch, or that only add to the repository.
const gitReaders = `
annotate blame bugreport cat-file check-attr check-ignore check-mailmap check-ref-format cherry column commit-graph commit-tree
count-objects credential daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool fetch fetch-pack fmt-merge-msg
for-each-ref for-each-repo fsck get-tar-commit-id grep gui hash-object help hook http-fetch http-push index-pack instaweb
interpret-trailers last-modified log ls-files ls-remote ls-tree mailinfo maintenance merge-base merge-tree mktag mktree
multi-pack-index name-rev notes pack-objects pack-redundant pack-refs patch-id prune-packed push range-diff refs remote repack replace
repo request-pull rerere rev-list rev-parse send-email send-pack shortlog show show-branch show-index show-ref status stripspace
unpack-file unpack-objects update-server-info var verify-commit verify-pack verify-tag version whatchanged write-tree
`

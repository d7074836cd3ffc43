#!/usr/bin/env bash
# run-client.sh NAME --repo DIR --home DIR --script steps.json [options] [-- EXTRA CLIENT ARGUMENTS]
# Run one coding agent for one turn in a repository, against the model stand-in, with its own HOME.
#
#   NAME            claude | codex | opencode | gemini | qwen | copilot | hermes
#   --repo DIR      an existing git repository, the working folder of the client
#   --home DIR      becomes HOME; XDG_*, CLAUDE_CONFIG_DIR, CODEX_HOME and HERMES_HOME lie below it (made if missing)
#   --script FILE   steps for model_stand_in.py
#   --clients DIR   where install-client.sh installed (default $E2E_CLIENTS); or --bin FILE for the launcher itself
#   --prompt TEXT   what the user says (default "do it")
#   --no-trust      leave out every trust and consent step listed in README.md
#   --tui           an interactive session in tmux (own server) instead of a headless turn; ended by --quit
#   --quit HOW      quit (default: the client's own command), ctrl-c, ctrl-d, hup (the terminal goes away), term,
#                   kill (SIGKILL for it and all that it started)
#   --env K=V       pass a variable to the client (repeatable); nothing but PATH, LANG, TZ and TMPDIR is inherited
#   --timeout S     default 90
#   --out DIR       where everything of this run goes (default HOME/e2e/NAME-<n>)
#
# Prints key=value lines: exit, requests (JSONL of every model request), stdout, stderr, screen (TUI). While the client
# runs, its process id stands in OUT/client.pid (kill-client.sh takes it).
# Exit: the client's exit code (124 after --timeout; 125 for a mistake in the call or a server that did not start).
set -u

die() { echo "run-client.sh: $*" >&2; exit 125; }
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -gt 0 ] || { sed -n '2,22p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 125; }
name=$1; shift
repo='' home='' script='' clients=${E2E_CLIENTS:-} bin='' prompt='do it' trust=1 tui='' quit=quit
limit=90 out=''
pass=() extra=()
while [ $# -gt 0 ]; do
  case $1 in
    --no-trust) trust=''; shift; continue ;;
    --tui) tui=1; shift; continue ;;
    --) shift; extra=("$@"); break ;;
  esac
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --repo) repo=$2 ;; --home) home=$2 ;; --script) script=$2 ;; --clients) clients=$2 ;; --bin) bin=$2 ;;
    --prompt) prompt=$2 ;; --quit) quit=$2 ;; --env) pass+=("$2") ;;
    --timeout) limit=$2 ;; --out) out=$2 ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
if [ -z "$repo" ] || [ -z "$home" ] || [ -z "$script" ]; then die "--repo, --home and --script are required"; fi
repo=$(cd "$repo" 2>/dev/null && pwd -P) || die "no such repository"
mkdir -p "$home" || die "cannot make --home"
home=$(cd "$home" && pwd -P)
[ -f "$script" ] || die "no such script: $script"
[ -n "$bin" ] || bin=$clients/$name/bin/$name
[ -x "$bin" ] || die "$bin is not installed (install-client.sh $name DIR, then --clients DIR)"
bin=$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")
kept=$(dirname "$(dirname "$bin")")/plugin-packages # what OpenCode installs into a repository
if [ -z "$out" ]; then
  n=1; while [ -e "$home/e2e/$name-$n" ]; do n=$((n + 1)); done
  out=$home/e2e/$name-$n
fi
mkdir -p "$out" || die "cannot make --out"
out=$(cd "$out" && pwd)

# --- the model stand-in ---------------------------------------------------------------------------------------------
model=''
stop_model() { [ -z "$model" ] || { kill "$model" 2>/dev/null; wait "$model" 2>/dev/null; model=''; }; }
trap stop_model EXIT
rm -f "$out/port"
python3 "$kit/model_stand_in.py" --log "$out/requests.jsonl" --script "$script" --cwd "$repo" --port-file "$out/port" >"$out/model.txt" 2>&1 &
model=$!
for _ in $(seq 100); do [ -s "$out/port" ] && break; sleep 0.05; done
[ -s "$out/port" ] || die "the model stand-in did not start: $(cat "$out/model.txt")"
url=http://127.0.0.1:$(cat "$out/port")

# --- a home for the client: what it needs to start without questions; files that exist are completed, not replaced ---
merge_json() { # merge_json FILE JSON: deep-merge JSON into FILE
  mkdir -p "$(dirname "$1")"
  python3 - "$1" "$2" <<'PY'
import json, os, sys
path, new = sys.argv[1], json.loads(sys.argv[2])
old = {}
if os.path.exists(path):
    old = json.loads("".join(x for x in open(path) if not x.startswith("//")))
def merge(a, b):
    for k, v in b.items():
        if isinstance(v, dict) and isinstance(a.get(k), dict): merge(a[k], v)
        elif isinstance(v, list) and isinstance(a.get(k), list): a[k] += [x for x in v if x not in a[k]]
        else: a[k] = v
merge(old, new)
json.dump(old, open(path, "w"), indent=2)
PY
}
[ -e "$home/.gitconfig" ] || printf '[user]\n\tname = E2E\n\temail = e2e@example.invalid\n' >"$home/.gitconfig"
env=("PATH=$PATH" "HOME=$home" "TERM=xterm-256color" "LANG=${LANG:-C.UTF-8}" "TMPDIR=${TMPDIR:-/tmp}" ${TZ:+"TZ=$TZ"}
  "XDG_CONFIG_HOME=$home/.config" "XDG_DATA_HOME=$home/.local/share" "XDG_STATE_HOME=$home/.local/state"
  "XDG_CACHE_HOME=$home/.cache" "NO_PROXY=127.0.0.1,localhost" "E2E_MODEL_URL=$url")
head=() # arguments of a headless turn
inter=() # arguments of an interactive session
quit_cmd=/quit
case $name in
  claude)
    quit_cmd=/exit
    env+=("CLAUDE_CONFIG_DIR=$home/.claude" "ANTHROPIC_BASE_URL=$url" ANTHROPIC_API_KEY=dummy IS_SANDBOX=1
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1)
    merge_json "$home/.claude/.claude.json" '{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":["dummy"],"rejected":[]}}'
    [ -z "$trust" ] || merge_json "$home/.claude/.claude.json" "{\"projects\":{\"$repo\":{\"hasTrustDialogAccepted\":true,\"hasCompletedProjectOnboarding\":true}}}"
    head=(-p "$prompt" --dangerously-skip-permissions --output-format json)
    inter=(--permission-mode acceptEdits --allowedTools Bash) ;;
  codex)
    env+=("CODEX_HOME=$home/.codex" FAKE_KEY=dummy)
    mkdir -p "$home/.codex"
    common=(-c 'model="gpt-5.2-codex"' -c 'model_provider="fake"' -c 'approval_policy="never"' -c 'sandbox_mode="danger-full-access"'
      -c 'check_for_update_on_startup=false' -c 'analytics.enabled=false' -c 'feedback.enabled=false'
      -c "model_providers.fake={name=\"fake\",base_url=\"$url/v1\",wire_api=\"responses\",env_key=\"FAKE_KEY\",request_max_retries=0,stream_max_retries=0}")
    if [ -n "$trust" ]; then
      touch "$home/.codex/config.toml"
      grep -qF "[projects.\"$repo\"]" "$home/.codex/config.toml" ||
        printf '\n[projects."%s"]\ntrust_level = "trusted"\n' "$repo" >>"$home/.codex/config.toml"
      common+=(--dangerously-bypass-hook-trust)
    fi
    head=(exec "${common[@]}" --json "$prompt")
    inter=("${common[@]}" --no-alt-screen --no-daemon) ;;
  opencode)
    quit_cmd=/exit
    cat >"$out/opencode.json" <<JSON
{ "provider": { "fake": { "npm": "@ai-sdk/openai-compatible", "name": "Fake",
    "options": { "baseURL": "$url/v1", "apiKey": "dummy" },
    "models": { "fake-model": { "name": "Fake", "limit": { "context": 200000, "output": 4000 } } } } },
  "model": "fake/fake-model", "small_model": "fake/fake-model", "autoupdate": false }
JSON
    # its first run installs a package of its own there, which takes up to a minute: done once for all
    if [ -d "$kept" ]; then
      mkdir -p "$home/.config/opencode"
      for place in "$home/.config/opencode" "$repo/.opencode"; do
        [ ! -d "$place" ] || [ -e "$place/node_modules" ] || cp -alf "$kept/." "$place/" || die "cannot copy $kept"
      done
    fi
    env+=("OPENCODE_CONFIG=$out/opencode.json" OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1)
    head=(run "$prompt")
    inter=() ;;
  gemini) # a system settings file would do, but Gemini refuses one below a world-writable folder such as /tmp
    merge_json "$home/.gemini/settings.json" '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}'
    env+=(GEMINI_API_KEY=dummy "GOOGLE_GEMINI_BASE_URL=$url" GEMINI_TELEMETRY_ENABLED=false)
    head=(-p "$prompt" --yolo)
    inter=(--yolo)
    # not --skip-trust: with it Gemini starts, but leaves out the project's hooks without a word
    [ -z "$trust" ] || merge_json "$home/.gemini/trustedFolders.json" "{\"$repo\":\"TRUST_FOLDER\"}" ;;
  qwen)
    echo '{"security":{"auth":{"selectedType":"openai"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false}}' >"$out/system-settings.json"
    env+=("QWEN_CODE_SYSTEM_SETTINGS_PATH=$out/system-settings.json" OPENAI_API_KEY=dummy "OPENAI_BASE_URL=$url/v1" OPENAI_MODEL=fake-model)
    head=(-p "$prompt" --yolo)
    inter=(--yolo) ;;
  copilot)
    quit_cmd=/exit
    env+=(COPILOT_OFFLINE=true "COPILOT_PROVIDER_BASE_URL=$url/v1" COPILOT_PROVIDER_API_KEY=dummy COPILOT_MODEL=gpt-4.1 COPILOT_AUTO_UPDATE=false)
    head=(-p "$prompt" --allow-all-tools)
    inter=(--allow-all-tools)
    # not --trust-folder: it works with -p only, and not together with --continue
    [ -z "$trust" ] || merge_json "$home/.copilot/config.json" "{\"trustedFolders\":[\"$repo\"]}" ;;
  hermes)
    env+=("HERMES_HOME=$home/.hermes")
    mkdir -p "$home/.hermes"
    touch "$home/.hermes/config.yaml"
    # shellcheck disable=SC2016  # Hermes expands ${E2E_MODEL_URL} itself, at every start
    grep -q '^model:' "$home/.hermes/config.yaml" ||
      printf 'model:\n  provider: custom\n  default: fake-model\n  base_url: ${E2E_MODEL_URL}/v1\n  api_key: dummy\n  context_length: 128000\n' >>"$home/.hermes/config.yaml"
    head=(chat -q "$prompt" --yolo)
    inter=(chat --yolo)
    [ -z "$trust" ] || { head+=(--accept-hooks); inter+=(--accept-hooks); } ;;
  *) die "unknown client $name" ;;
esac
env+=("${pass[@]+"${pass[@]}"}")

# --- run -----------------------------------------------------------------------------------------------------------
rc=0
if [ -z "$tui" ]; then
  (echo "$BASHPID" >"$out/client.pid" && cd "$repo" && exec env -i "${env[@]}" timeout -k 5 "$limit" "$bin" "${head[@]}" "${extra[@]+"${extra[@]}"}") \
    </dev/null >"$out/stdout.txt" 2>"$out/stderr.txt" || rc=$?
else
  command -v tmux >/dev/null || die "--tui needs tmux"
  T() { tmux -L "e2e-$$" -f /dev/null "$@" 2>/dev/null; }
  screen() { T capture-pane -p -t s >"$out/screen-$1.txt"; }
  still() { # still SECONDS: until the screen shows something and has not changed for 2 s
    local i=0 same=0 a b=''
    while [ $i -lt $(($1 * 2)) ] && [ $same -lt 4 ] && [ ! -s "$out/rc" ]; do
      sleep 0.5; i=$((i + 1)); a=$(T capture-pane -p -t s) || return 0
      if [ "$a" = "$b" ] && [ -n "${a//[[:space:]]/}" ]; then same=$((same + 1)); else same=0; b=$a; fi
    done
  }
  mains() { grep -c '"main": true' "$out/requests.jsonl"; }
  {
    printf '#!/bin/sh\ncd %q || exit 125\n' "$repo"
    printf 'env -i'; printf ' %q' "${env[@]}" "$bin" "${inter[@]}" "${extra[@]+"${extra[@]}"}"
    # shellcheck disable=SC2016
    printf ' &\npid=$!; echo $pid >%q\nfg >/dev/null 2>&1; r=$?\n' "$out/client.pid"
    # shellcheck disable=SC2016  # a client that was gone before fg: its code comes from wait instead
    printf 'wait $pid 2>/dev/null; w=$?; [ $w = 127 ] || r=$w\necho $r >%q\n' "$out/rc"
  } >"$out/start.sh"
  T new-session -d -s s -x 140 -y 45 "bash -m $(printf %q "$out/start.sh")" || die "tmux did not start"
  trap 'T kill-server; stop_model' EXIT
  still 30; screen start
  T send-keys -t s -l "$prompt"; sleep 1; T send-keys -t s Enter
  for _ in $(seq 60); do [ "$(mains)" -gt 0 ] || [ -s "$out/rc" ] && break; sleep 0.5; done
  [ -s "$out/rc" ] || { sleep 2; still 30; }
  screen turn
  pid=$(cat "$out/client.pid" 2>/dev/null)
  case $quit in
    quit) T send-keys -t s -l "$quit_cmd"; sleep 1; T send-keys -t s Enter; sleep 1; [ -s "$out/rc" ] || T send-keys -t s Enter ;;
    ctrl-c) T send-keys -t s C-c; sleep 0.5; T send-keys -t s C-c ;;
    ctrl-d) T send-keys -t s C-d; sleep 0.5; T send-keys -t s C-d ;;
    hup) T kill-session -t s ;;
    term) [ -z "$pid" ] || kill "$pid" ;;
    kill) [ -z "$pid" ] || { "$kit/kill-client.sh" "$out/client.pid"; } 2>/dev/null ;;
    *) die "unknown --quit $quit" ;;
  esac
  for _ in $(seq 40); do
    [ -s "$out/rc" ] && break
    [ -n "$pid" ] && ! kill -0 "$pid" 2>/dev/null && sleep 1 && break
    sleep 0.5
  done
  screen end
  rc=$(cat "$out/rc" 2>/dev/null) || rc=''
  if [ -z "$rc" ]; then
    if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then kill "$pid"; rc=124; else rc=129; fi # 129: gone with its terminal
  fi
  T kill-server
fi
stop_model
if [ "$name" = opencode ] && [ "$rc" = 0 ] && [ -d "$repo/.opencode/node_modules" ] && [ ! -d "$kept" ]; then
  mkdir -p "$kept.new" && cp -a "$repo/.opencode/"{node_modules,package.json,package-lock.json,.gitignore} "$kept.new/" &&
    mv "$kept.new" "$kept"
fi
echo "exit=$rc"
for f in requests.jsonl stdout.txt stderr.txt screen-turn.txt; do
  [ -e "$out/$f" ] && echo "${f%%[.-]*}=$out/$f"
done
exit "$rc"

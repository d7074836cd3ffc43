#!/bin/sh
# Puts endwell on PATH. There is no release to download yet, so it is built here, from this very folder, with cargo.
# It changes no shell profile and needs no root.
#
#   ./install.sh              build, put the program on PATH, and judge this checkout with it
#   ./install.sh --repo DIR   the same, then `endwell install` in the git repository DIR
#
# ENDWELL_BIN_DIR names the folder for the program; without it: cargo's own, else ~/.local/bin.
set -eu

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "error: $1"
  shift
  for hint in "$@"; do say "hint: $hint"; done
  exit 3
}
on_path() {
  case ":$PATH:" in
  *":$1:"*) return 0 ;;
  *) return 1 ;;
  esac
}

repo=
while [ $# -gt 0 ]; do
  case $1 in
  --repo)
    if [ $# -lt 2 ]; then
      say 'error: --repo needs a folder'
      exit 2
    fi
    repo=$2
    shift 2
    ;;
  -h | --help)
    sed -n 's/^# \{0,1\}//; 2,8p' "$0"
    exit 0
    ;;
  *)
    say "error: \`$1\` means nothing here"
    say 'hint: ./install.sh --help shows the two ways to call it'
    exit 2
    ;;
  esac
done

source=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ -f "$source/Cargo.toml" ] || fail "\`$source\` is no checkout of endwell" \
  'Clone the repository and run the install.sh in it.'
if [ -n "$repo" ] && ! git -C "$repo" rev-parse --show-toplevel >/dev/null 2>&1; then
  fail "\`$repo\` is no git repository with a work tree" 'Give --repo a folder in your clone.'
fi

cargo=$(command -v cargo) || cargo=${CARGO_HOME:-$HOME/.cargo}/bin/cargo
[ -x "$cargo" ] || fail 'cargo is not on PATH, and endwell is built with it' \
  'Install Rust (https://rustup.rs), open a new shell, and run this again.'
command -v git >/dev/null || fail 'git is not on PATH' 'Install git 2.31 or newer, and run this again.'

# cargo's own folder where the shell looks there already, else the folder that most systems have on PATH
cargo_bin=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin
if [ -n "${ENDWELL_BIN_DIR:-}" ]; then
  bin=$ENDWELL_BIN_DIR
elif on_path "$cargo_bin"; then
  bin=$cargo_bin
else
  bin=$HOME/.local/bin
fi

# Started by every hook, so it is linked to be there at once, where this machine can: no shared library is looked up, and
# nothing is relocated. The program itself is the same.
set --
if [ "$(uname -s)" = Linux ] && rustc=$("${cargo%/*}/rustc" -vV 2>/dev/null || rustc -vV 2>/dev/null); then
  case $rustc:$(cc -print-file-name=libc.a 2>/dev/null) in
  *host:*-linux-gnu*:/*) set -- -C target-feature=+crt-static -C relocation-model=static ;;
  esac
fi
built=$source/target/release/endwell
# what an earlier run left must not pass for this one's
rm -f "$built"
say 'Building endwell (a few minutes the first time) …'
# the checkout's own target folder lets a second run finish in seconds
(cd "$source" && "$cargo" rustc --locked --release --bin endwell --target-dir "$source/target" -- "$@") ||
  fail 'the build failed; cargo says why above' 'Rust 1.95 or newer is needed; with rustup: rustup update stable'
[ -x "$built" ] || fail "cargo put the program elsewhere than \`$built\`" \
  "Unset CARGO_BUILD_TARGET and \`build.target\` in cargo's settings, and run this again."
place() {
  mkdir -p "$bin" || return 1
  # moved into place at once: a program that runs meanwhile stays whole
  cp "$built" "$bin/.endwell-new.$$" || return 1
  mv -f "$bin/.endwell-new.$$" "$bin/endwell"
}
place || fail "can't write \`$bin/endwell\`" 'Name a folder of your own in ENDWELL_BIN_DIR.'
say "Installed \`$bin/endwell\` ($("$bin/endwell" --version))."

found=$(command -v endwell) || found=
if ! on_path "$bin"; then
  say "warning: \`$bin\` is not on PATH, where your shell and your agents look"
  # shellcheck disable=SC2016  # the person's shell expands it
  say 'hint: Put this line into your shell profile, then open a new shell: export PATH="'"$bin"':$PATH"'
elif [ "$found" != "$bin/endwell" ]; then
  say "warning: \`$found\` comes first on PATH and hides the new one"
  say "hint: Remove \`$found\`, or put \`$bin\` in front of its folder on PATH."
fi

if [ -n "$repo" ]; then
  status=0
  PATH=$bin:$PATH "$bin/endwell" -C "$repo" install || status=$?
  exit "$status"
fi
# the main job, once, so that it is seen to work: is this checkout safe to leave?
if git -C "$source" rev-parse --show-toplevel >/dev/null 2>&1; then
  say 'Judging this checkout, as endwell check does in any repository:'
  "$bin/endwell" -C "$source" check || true
fi
say 'Next, in a repository of yours: endwell install'

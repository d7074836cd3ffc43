#!/bin/sh
# endwell pre-push hook, version 1. Written by `endwell install`, taken out by `endwell uninstall`.
# The gate judges first; then the hook that was here before runs, with the same arguments and the same input, and its
# exit code decides.
endwell='@ENDWELL@'
[ -x "$endwell" ] || endwell=$(command -v endwell) || endwell=
case $0 in
*/*) next=${0%/*}/pre-push.endwell-chained ;;
*) next=./pre-push.endwell-chained ;;
esac
# git skips a hook without the executable bit, and so does this
if [ ! -f "$next" ] || [ ! -x "$next" ]; then next=; fi
if [ -z "$endwell" ]; then
  echo 'warning: endwell is not found, so nothing judged this push; put it on PATH again' >&2
  if [ -n "$next" ]; then exec "$next" "$@"; fi
  exit 0
fi
if [ -z "$next" ]; then exec "$endwell" hook pre-push "$@"; fi
# read once, byte for byte: the dot keeps the line ends that a command substitution cuts off
refs=$(cat && echo .) || exit 1
refs=${refs%.}
printf %s "$refs" 2>/dev/null | "$endwell" hook pre-push "$@" || exit $?
printf %s "$refs" 2>/dev/null | "$next" "$@"

#!/bin/sh
# endwell pre-push hook, version 3. Written by `endwell install`, taken out by `endwell uninstall`.
# The gate judges first; then the hook that was here before runs, with the same arguments and the same input, and its
# exit code decides.
endwell='@ENDWELL@' missing=@MISSING@
[ -x "$endwell" ] || endwell=$(command -v endwell) || endwell=
case $0 in */*) dir=${0%/*} ;; *) dir=. ;; esac
case $dir in */*) up=${dir%/*} ;; *) up=. ;; esac
# it has its own name still, since some hooks look at it, in a folder as deep as this one
next=$up/endwell-chained/pre-push
[ -f "$next" ] || next=$dir/pre-push.endwell-chained
# called by git's configuration, it is a hook beside the one in the hooks folder, which git runs itself
case ${dir##*/} in endwell) next= ;; esac
# git skips a hook without the executable bit, and so does this
if [ ! -f "$next" ] || [ ! -x "$next" ]; then next=; fi
if [ "$next" = "$up/endwell-chained/pre-push" ]; then
  # what it looks for beside itself lies here
  for file in "$dir"/* "$dir"/.[!.]*; do
    name=${file##*/}
    case $name in *.sample | pre-push) continue ;; esac
    if [ -e "$file" ] && [ ! -e "$up/endwell-chained/$name" ]; then
      ln -s "../${dir##*/}/$name" "$up/endwell-chained/$name" 2>/dev/null
    fi
  done
fi
if [ -z "$endwell" ]; then
  if [ "$missing" = block ]; then
    echo 'error: endwell is not found, so nothing can judge this push, and it is refused (push.missing)' >&2
    echo 'hint: put the folder of endwell on PATH again, or install it again' >&2
    exit 1
  fi
  echo 'warning: endwell is not found, so nothing judged this push; put it on PATH again' >&2
  if [ -n "$next" ]; then exec "$next" "$@"; fi
  exit 0
fi
if [ -z "$next" ]; then exec "$endwell" hook pre-push "$@"; fi
# read once, byte for byte: the dot keeps the line ends that a command substitution cuts off
refs=$(cat && echo .) || {
  echo 'error: what git pushes could not be read, so the push is refused; is cat on PATH?' >&2
  exit 1
}
refs=${refs%.}
printf %s "$refs" 2>/dev/null | "$endwell" hook pre-push "$@" || exit $?
printf %s "$refs" 2>/dev/null | "$next" "$@"

#!/usr/bin/env bash
# kill-client.sh PIDFILE - SIGKILL for a client and everything that it started, the way a machine goes that loses its power.
#
# May be called by the client's own shell tool: it kills itself last. Reads /proc, so Linux only.
set -u

root=$(cat "${1:?PIDFILE}") || exit 2
parents=() # "PID PARENT" of every process; the name stands in brackets and may hold anything
for stat in /proc/[0-9]*/stat; do
  line=$(cat "$stat" 2>/dev/null) || continue
  rest=${line##*) }
  read -r _ parent _ <<<"$rest"
  parents+=("${line%% *} $parent")
done
list=("$root") grown=1
while [ -n "$grown" ]; do
  grown=''
  for pair in "${parents[@]}"; do
    case " ${list[*]} " in
      *" ${pair#* } "*) case " ${list[*]} " in *" ${pair% *} "*) ;; *) list+=("${pair% *}") grown=1 ;; esac ;;
    esac
  done
done
for pid in "${list[@]}"; do
  [ "$pid" = "$$" ] || kill -KILL "$pid" 2>/dev/null
done
kill -KILL "$$"

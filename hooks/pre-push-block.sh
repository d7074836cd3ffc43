# begin endwell: judges what is pushed, for each person who ran `endwell install` here; passes by for the others
if command -v endwell >/dev/null; then
  endwell_refs=$(cat)
  if [ -n "$endwell_refs" ]; then
    printf '%s\n' "$endwell_refs" | endwell hook pre-push "$@" || exit $?
    exec <<ENDWELL_REFS
$endwell_refs
ENDWELL_REFS
  else
    exec </dev/null
  fi
fi
# end endwell

#!/bin/sh
# new-git.sh FOLDER - puts a git of Debian's sid suite (2.54 or newer, with hooks in its configuration) into FOLDER,
# beside the system's own: `FOLDER/bin/git` runs it. Nothing is installed. Needs Debian, apt-get and a network.
set -eu

to=${1:?usage: new-git.sh FOLDER}
mkdir -p "$to/lists/partial" "$to/cache/archives/partial" "$to/debs" "$to/root" "$to/bin" "$to/exec"
to=$(cd "$to" && pwd)

# the mirror that this machine uses already
# shellcheck disable=SC2016 # apt-get fills it in
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
printf 'deb [signed-by=%s] %s sid main\n' "$keys" "$mirror" >"$to/sources.list"
set -- -o Dir::Etc::sourcelist="$to/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$to/lists" \
  -o Dir::Cache="$to/cache" -o APT::Sandbox::User=root
apt-get "$@" update -qq
(cd "$to/debs" && apt-get "$@" download -qq git/sid libc6/sid libpcre2-8-0/sid zlib1g/sid)
for package in "$to"/debs/*.deb; do dpkg-deb -x "$package" "$to/root"; done

# it needs the C library of its own suite, and so does every git that it starts
root=$to/root
lib=$(dirname "$(find "$root" -name 'ld-linux-*.so.*' | head -n 1)")
loader=$(find "$lib" -name 'ld-linux-*.so.*' | head -n 1)
cat >"$to/bin/git" <<END
#!/bin/sh
GIT_EXEC_PATH='$to/exec' exec '$loader' --library-path '$lib' '$root/usr/bin/git' "\$@"
END
chmod +x "$to/bin/git"
for name in upload-pack receive-pack; do
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$to/bin/git" "$name" >"$to/bin/git-$name"
  chmod +x "$to/bin/git-$name"
done
for tool in "$root"/usr/lib/git-core/*; do
  # scripts only: the rest is built into git itself
  if [ -f "$tool" ] && head -n 1 "$tool" | tr -d '\0' | grep -q '^#!'; then ln -sf "$tool" "$to/exec/"; fi
done
ln -sf "$to/bin/git" "$to/exec/git"
"$to/bin/git" --version

#!/usr/bin/env python3
"""managers.py - endwell beside real hook managers, by real pushes.

    tests/kit/managers.py TOOLS [--binary FILE] [--install]

First a table: each form of a push, with a fault in each place where it can hide, under endwell and under prek, pre-commit,
lefthook and a hand-written hook of husky's, which all run the same small check. "leak": the bad commit reached the remote;
"blocked": a push without fault was refused. Then endwell and each manager in one repository, in both orders: both must
fire, `uninstall` must give back every byte, and `doctor` must see what a manager did that came later.

TOOLS is the folder where the managers lie; --install puts them there (from PyPI and npm). Ends with 1 where endwell leaks,
blocks, or does not get along. Python standard library and git only; everything happens in a temporary folder.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON_TOOLS = ["prek==0.5.*", "pre-commit==4.*", "lefthook==2.*"]
NODE_TOOLS = ["husky@9", "simple-git-hooks@2"]
CHECK = """#!/bin/sh
# the small check: no conflict markers, no *.orig file, among the files that it is given
echo ran >>"$TRACE"
for file; do
  case $file in *.orig) echo "litter: $file"; exit 1 ;; esac
  if [ -f "$file" ] && grep -q '^<<<<<<< ' "$file"; then echo "marker: $file"; exit 1; fi
done
"""
LOCAL_HOOK = """repos:
  - repo: local
    hooks:
      - id: small
        name: small
        entry: ./check.sh
        language: system
        stages: [pre-push]
"""
LEFTHOOK = "pre-push:\n  jobs:\n    - name: small\n      run: ./check.sh {push_files}\n"
HUSKY = "git diff --name-only origin/main HEAD | xargs ./check.sh\n"
FAULTS = {"marker": ("m.txt", "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> side\n"), "orig": ("app.py.orig", "x\n")}
failures = []


class Tools:
    def __init__(self, folder, binary):
        self.folder, self.binary = folder, binary

    def install(self):
        os.makedirs(os.path.join(self.folder, "node"), exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", os.path.join(self.folder, "py")], check=True)
        pip = os.path.join(self.folder, "py/bin/pip")
        subprocess.run([pip, "install", "-q", "--disable-pip-version-check", *PYTHON_TOOLS], check=True)
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", os.path.join(self.folder, "node")]
        subprocess.run([*words, *NODE_TOOLS], check=True)

    def path(self):
        places = [os.path.dirname(self.binary), os.path.join(self.folder, "py/bin"), os.path.join(self.folder, "node/node_modules/.bin")]
        return os.pathsep.join([*places, os.environ["PATH"]])


class Box:
    """A folder with a home, a repository, and its remote."""

    def __init__(self, tools, root, sha256=False):
        self.root, self.repo = root, os.path.join(root, "repo")
        os.makedirs(os.path.join(root, "home"), exist_ok=True)
        with open(os.path.join(root, "home/.gitconfig"), "w", encoding="utf-8") as f:
            f.write("[user]\n\tname = T\n\temail = t@example.invalid\n[init]\n\tdefaultBranch = main\n"
                    "[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n")
        self.env = {
            "PATH": tools.path(), "HOME": os.path.join(root, "home"), "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
            "TRACE": os.path.join(root, "trace"), "NO_COLOR": "1", "PREK_HOME": os.path.join(root, "prek"),
            "PRE_COMMIT_HOME": os.path.join(root, "pre-commit"),
        }
        self.format = ["--object-format=sha256"] if sha256 else []

    def run(self, *words, cwd=None):
        return subprocess.run(words, cwd=cwd or self.repo, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", capture_output=True, check=False, timeout=120)

    def must(self, *words, cwd=None):
        done = self.run(*words, cwd=cwd)
        if done.returncode != 0:
            raise RuntimeError("%s: exit %d\n%s%s" % (words, done.returncode, done.stdout, done.stderr))
        return done.stdout.strip()

    def git(self, *words, cwd=None):
        return self.must("git", *words, cwd=cwd)

    def write(self, path, text, mode=None):
        full = os.path.join(self.repo, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)
        if mode:
            os.chmod(full, mode)

    def read(self, path):
        with open(os.path.join(self.root, path), "rb") as f:
            return f.read()

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", message)

    def start(self, files):
        self.git("init", "-q", *self.format, "-b", "main", self.repo, cwd=self.root)
        self.write("README.md", "A repository.\n")
        self.write("sub/keep.txt", "kept\n")
        self.write("check.sh", CHECK, 0o755)
        for path, text in files.items():
            self.write(path, text)
        self.commit("base")
        self.git("init", "-q", "--bare", *self.format, os.path.join(self.root, "up.git"), cwd=self.root)
        self.git("remote", "add", "origin", "../up.git")
        self.git("push", "-q", "-u", "origin", "main", "main:old")

    def branch(self, name, path, text):
        """A branch with one commit that adds a file."""
        self.git("switch", "-q", "-c", name, "main")
        self.write(path, text)
        self.commit(name)
        tip = self.git("rev-parse", "HEAD")
        self.git("switch", "-q", "main")
        return tip


def setup_tool(box, name):
    """Makes a manager run the small check; endwell needs none."""
    if name == "endwell":
        box.must("endwell", "-q", "install")
    elif name == "prek":
        box.must("prek", "install", "--hook-type", "pre-push")
    elif name == "pre-commit":
        box.must("pre-commit", "install", "--hook-type", "pre-push")
    elif name == "lefthook":
        box.must("lefthook", "install")
    elif name == "husky":
        box.must("husky")
    elif name == "simple-git-hooks":
        box.must("simple-git-hooks")


FILES = {
    "none": {}, "endwell": {},
    "prek": {".pre-commit-config.yaml": LOCAL_HOOK}, "pre-commit": {".pre-commit-config.yaml": LOCAL_HOOK},
    "lefthook": {"lefthook.yml": LEFTHOOK}, "husky": {".husky/pre-push": HUSKY},
    "simple-git-hooks": {"package.json": json.dumps({"name": "x", "version": "1.0.0", "simple-git-hooks": {"pre-push": "./check.sh README.md"}}, indent=2) + "\n"},
}


def on(branch):
    return lambda box: box.git("switch", "-q", branch)


def above(box):
    """A clean commit on top of the one in question."""
    box.git("switch", "-q", "it")
    box.write("above.txt", "fine\n")
    box.commit("above")


def repaired(box):
    above(box)
    for path, _ in FAULTS.values():
        if os.path.exists(os.path.join(box.repo, path)):
            box.git("rm", "-q", path)
    box.write("repair.txt", "fine\n")
    box.commit("repaired")


def in_work_tree(box):
    box.git("switch", "-q", "it")
    for path, _ in FAULTS.values():
        if os.path.exists(os.path.join(box.repo, path)):
            os.remove(os.path.join(box.repo, path))


def worktree(branch):
    return lambda box: box.git("worktree", "add", "-q", "../wt", branch)


def fresh(box):
    box.git("init", "-q", "--bare", os.path.join(box.root, "fresh.git"), cwd=box.root)
    box.git("remote", "add", "fresh", "../fresh.git")


def tag(*words):
    return lambda box: box.git("tag", *words)


# name, preparation, the push, its folder, whether HEAD or another ref carries the fault is told by the preparation
FORMS = [
    ("the branch that is checked out", on("it"), ["origin", "it"], "repo"),
    ("a forced push", on("it"), ["--force", "origin", "it:old"], "repo"),
    ("under a clean commit", above, ["origin", "it"], "repo"),
    ("detached", lambda box: box.git("switch", "-q", "--detach", "it"), ["origin", "HEAD:refs/heads/x"], "repo"),
    ("by URL", on("it"), ["../up.git", "it"], "repo"),
    ("from a subfolder", on("it"), ["origin", "it"], "repo/sub"),
    ("a deletion beside it", on("it"), ["origin", ":old", "it"], "repo"),
    ("two refs, not checked out", on("main"), ["origin", "good", "it"], "repo"),
    ("not checked out", on("main"), ["origin", "it"], "repo"),
    ("another worktree's branch", worktree("it"), ["origin", "it"], "repo"),
    ("--all", on("main"), ["--all", "origin"], "repo"),
    ("--mirror", on("main"), ["--mirror", "origin"], "repo"),
    ("a fresh remote", fresh, ["fresh", "it"], "repo"),
    ("a light tag", tag("t", "it"), ["origin", "t"], "repo"),
    ("an annotated tag", tag("-a", "-m", "t", "t", "it"), ["origin", "t"], "repo"),
    ("HEAD~2:refs/heads/x", repaired, ["origin", "HEAD~2:refs/heads/x"], "repo"),
    ("from a linked worktree", worktree("it"), ["origin", "it"], "wt"),
    ("SHA-256", on("it"), ["origin", "it"], "repo"),
    ("in a submodule", on("it"), ["origin", "it"], "repo"),
]
# a detached HEAD is a finding of the workbench, so endwell refuses the clean counterpart as well, and says how to mend it
NOT_CLEAN = {("endwell", "detached")}
# pushes without new content, while HEAD is bad: they must pass
HARMLESS = [("a pure deletion, HEAD bad", on("it"), ["origin", ":old"]), ("up to date, HEAD bad", on("it"), ["origin", "main"])]


def scene(tools, folder, name, form, fault):
    """The repository in which one push is tried; `fault` is None for its clean counterpart."""
    box = Box(tools, tempfile.mkdtemp(dir=folder), sha256=form == "SHA-256")
    if form == "in a submodule":
        outer = Box(tools, os.path.join(box.root, "outer"))
        inner = Box(tools, os.path.join(outer.root, "src"))
        inner.start(FILES[name])
        os.makedirs(outer.repo)
        outer.git("init", "-q", "-b", "main", ".")
        outer.git("submodule", "--quiet", "add", os.path.join(inner.root, "up.git"), "inner")
        outer.git("commit", "-q", "-m", "outer")
        box.repo = os.path.join(outer.repo, "inner")
        box.git("switch", "-q", "main")
        box.up = os.path.join(inner.root, "up.git")
    else:
        box.start(FILES[name])
        box.up = os.path.join(box.root, "up.git")
    box.branch("good", "good.txt", "fine\n")
    path, text = FAULTS[fault] if fault else ("clean.txt", "fine\n")
    tip = box.branch("it", path, text)
    setup_tool(box, name)
    return box, tip


def reached(box, tip):
    ups = [box.up, os.path.join(box.root, "fresh.git")]
    there = [up for up in ups if os.path.isdir(up) and box.run("git", "cat-file", "-e", tip, cwd=up).returncode == 0]
    return bool(there)


def try_form(tools, folder, name, form, fault):
    title, prepare, push, where = form
    box, tip = scene(tools, folder, name, title, fault)
    prepare(box)
    cwd = box.repo if where == "repo" else os.path.join(box.repo, "sub") if where == "repo/sub" else os.path.join(os.path.dirname(box.repo), "wt")
    done = box.run("git", "push", *push, cwd=cwd)
    arrived = reached(box, tip)
    if len(FORMS) < 3 and not fault:
        print(done.stdout + done.stderr)
    shutil.rmtree(box.root, ignore_errors=True)
    if fault:
        return "leak" if arrived else "stopped"
    return "" if arrived and done.returncode == 0 else "blocked"


def try_harmless(tools, folder, name, form):
    title, prepare, push = form
    box, _ = scene(tools, folder, name, title, "marker")
    prepare(box)
    done = box.run("git", "push", *push)
    shutil.rmtree(box.root, ignore_errors=True)
    return "pass" if done.returncode == 0 else "blocked"


def table(tools, folder, names):
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        for name in names:
            # the two faults differ for what reads content; the peers' check reads both the same way
            faults = list(FAULTS) if name == "endwell" else ["marker"]
            for form in FORMS:
                jobs[name, form[0]] = [pool.submit(try_form, tools, folder, name, form, fault) for fault in faults + ([] if (name, form[0]) in NOT_CLEAN else [None])]
            for form in HARMLESS:
                jobs[name, form[0]] = [pool.submit(try_harmless, tools, folder, name, form)]
        rows = {}
        for key, futures in jobs.items():
            said = [future.result() for future in futures]
            word = "leak" if "leak" in said else said[0]
            rows[key] = word + (", clean one blocked" if word != "blocked" and "blocked" in said[1:] else "")
    print("%-32s" % "push" + "".join("%-26s" % name for name in names))
    for form in [*FORMS, *HARMLESS]:
        print("%-32s" % form[0] + "".join("%-26s" % rows[name, form[0]] for name in names))
    leaks = {name: sum("leak" in rows[name, form[0]] for form in FORMS) for name in names}
    blocks = {name: sum("blocked" in rows[name, form[0]] for form in [*FORMS, *HARMLESS]) for name in names}
    print("%-32s" % ("leaks of %d" % len(FORMS)) + "".join("%-26d" % leaks[name] for name in names))
    print("%-32s" % ("false blocks of %d" % (len(FORMS) + len(HARMLESS))) + "".join("%-26d" % blocks[name] for name in names), flush=True)
    if leaks["endwell"] or blocks["endwell"]:
        failures.append("endwell: %d leaks, %d false blocks" % (leaks["endwell"], blocks["endwell"]))


# --- in one repository ------------------------------------------------------------------------------------------------
WATCHED = [".git/hooks", ".git/config", ".husky", "lefthook.yml", "package.json", ".pre-commit-config.yaml", ".git/info/exclude"]


def bytes_of(box):
    found = {}
    for start in WATCHED:
        full = os.path.join(box.repo, start)
        names = [os.path.join(at, name) for at, _, names in os.walk(full) for name in names] if os.path.isdir(full) else [full]
        for name in names:
            if os.path.exists(name) and not name.endswith(".sample"):
                with open(name, "rb") as f:
                    found[os.path.relpath(name, box.repo)] = (os.stat(name).st_mode, f.read())
    return found


def expect(name, what, fine, box=None, done=None):
    print("  %-18s %-64s %s" % (name, what, "ok" if fine else "FAILED"), flush=True)
    if not fine:
        failures.append("%s: %s" % (name, what))
        if done is not None:
            print(done.stdout + done.stderr)


def both_fire(box, name, what):
    """A dirty push is refused by endwell, a clean one passes both."""
    box.write("next.txt", what + "\n")
    box.commit("next")
    box.write("left.txt", "x\n")
    dirty = box.run("git", "push", "-q", "origin", "main")
    expect(name, what + ": endwell refuses a dirty bench", dirty.returncode != 0 and "left.txt" in dirty.stderr + dirty.stdout, done=dirty)
    os.remove(os.path.join(box.repo, "left.txt"))
    open(box.env["TRACE"], "w", encoding="utf-8").close()
    clean = box.run("git", "push", "-q", "origin", "main")
    passed = os.path.join(box.repo, ".git/endwell/gate.jsonl")
    lines = open(passed, encoding="utf-8").read().splitlines() if os.path.exists(passed) else ["{}"]
    head = box.git("rev-parse", "HEAD")
    judged = json.loads(lines[-1]).get("verdict") == "passed" and head in lines[-1]
    expect(name, what + ": a clean push passes both", clean.returncode == 0 and judged and box.read("trace") != b"", done=clean)


def way_in(box, name):
    """What a person does to join the two, the manager being there."""
    if name == "husky":
        return box.run("endwell", "install", "--via", "husky")
    if name == "lefthook":
        first = box.run("endwell", "install", "--via", "lefthook")
        entry = first.stderr.split("pre-push:\n  jobs:\n", 1)[1].split("\n\n")[0]
        lines = [line for line in entry.splitlines() if line.startswith("    ")]
        box.write("lefthook.yml", LEFTHOOK + "\n".join(lines) + "\n")
        box.must("lefthook", "install")
        box.commit("join")
        return box.run("endwell", "install", "--via", "lefthook")
    if name == "simple-git-hooks":
        first = box.run("endwell", "install", "--via", "simple-git-hooks")
        entry = json.loads("{" + first.stderr[first.stderr.index('"simple-git-hooks"'):].split("\n}\n")[0] + "\n}}")
        package = json.loads(FILES[name]["package.json"])
        ours = entry["simple-git-hooks"]["pre-push"]
        # stdin is endwell's, which the small check does not read
        package["simple-git-hooks"]["pre-push"] = "(" + ours + ") && " + package["simple-git-hooks"]["pre-push"]
        box.write("package.json", json.dumps(package, indent=2) + "\n")
        box.must("simple-git-hooks")
        box.commit("join")
        return box.run("endwell", "install", "--via", "simple-git-hooks")
    return box.run("endwell", "install", "--via", name)


def manager_first(tools, folder, name):
    box = Box(tools, tempfile.mkdtemp(dir=folder))
    box.start(FILES[name])
    setup_tool(box, name)
    before = bytes_of(box)
    done = way_in(box, name)
    expect(name, "manager first: endwell joins it", done.returncode == 0, done=done)
    if name in ("husky",):
        box.commit("join")
    doctor = box.run("endwell", "doctor")
    expect(name, "manager first: doctor finds nothing wrong", doctor.returncode == 0, done=doctor)
    both_fire(box, name, "manager first")
    out = box.run("endwell", "uninstall")
    after = bytes_of(box)
    if name in ("lefthook", "simple-git-hooks"):
        # the entry is the person's: what the person put there stays
        for files in (before, after):
            for path in ("lefthook.yml", "package.json", ".git/hooks/pre-push"):
                files.pop(path, None)
    differ = sorted(path for path in set(before) | set(after) if before.get(path) != after.get(path))
    if differ:
        print("    differ: %s" % differ)
    expect(name, "manager first: uninstall gives back every byte", out.returncode == 0 and not differ, done=out)
    if name in ("lefthook", "simple-git-hooks"):
        # and without `--via`: ours in front of what is there
        box = Box(tools, tempfile.mkdtemp(dir=folder))
        box.start(FILES[name])
        setup_tool(box, name)
        before = bytes_of(box)
        done = box.run("endwell", "install")
        expect(name, "in front: endwell is installed", done.returncode == 0, done=done)
        both_fire(box, name, "in front")
        out = box.run("endwell", "uninstall")
        expect(name, "in front: uninstall gives back every byte", out.returncode == 0 and bytes_of(box) == before, done=out)


SEEN = {"prek": ("adopted", None), "pre-commit": ("adopted", None), "lefthook": ("none", "hook-replaced"),
        "husky": ("project", "hook-shadowed"), "simple-git-hooks": ("none", "hook-replaced")}


def endwell_first(tools, folder, name):
    box = Box(tools, tempfile.mkdtemp(dir=folder))
    box.start(FILES[name])
    box.must("endwell", "-q", "install")
    setup_tool(box, name)
    done = box.run("endwell", "doctor", "--json")
    told = json.loads(done.stdout)
    way, code = SEEN[name]
    codes = [finding["code"] for finding in told["findings"] if finding["wrong"]]
    fine = told["push"]["way"] == way and (codes == [code] if code else not codes)
    expect(name, "endwell first: doctor sees it (%s)" % (code or "runs as its former hook"), fine, done=done)
    if code is None:
        both_fire(box, name, "endwell first")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", metavar="TOOLS")
    parser.add_argument("--binary", default=os.path.join(TOP, "target/debug/endwell"))
    parser.add_argument("--form", help="only the forms with this text in their name, and only under endwell; shows what was said")
    parser.add_argument("--install", action="store_true", help="install the managers into TOOLS first")
    args = parser.parse_args()
    tools = Tools(os.path.abspath(args.tools), os.path.abspath(args.binary))
    if not os.access(tools.binary, os.X_OK):
        sys.exit("%s is not there: `cargo build` makes it" % tools.binary)
    if args.install:
        tools.install()
    folder = tempfile.mkdtemp(prefix="endwell-managers-")
    if args.form:
        FORMS[:] = [form for form in FORMS if args.form in form[0]]
        HARMLESS[:] = [form for form in HARMLESS if args.form in form[0]]
        table(tools, folder, ["endwell"])
        return
    try:
        table(tools, folder, ["endwell", "prek", "pre-commit", "lefthook", "husky"])
        for name in SEEN:
            manager_first(tools, folder, name)
            endwell_first(tools, folder, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in failures:
        print("failed: " + line)
    if not failures:
        print("endwell leaks nothing and gets along with each of them")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

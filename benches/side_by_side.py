#!/usr/bin/env python3
"""side_by_side.py - what endwell costs beside what git costs anyway, measured in pairs.

    benches/side_by_side.py [--binary FILE] [--files N]... [--pairs N] [--husky FILE] [--assert]

Machines are noisy, so each figure is the median of the ratios of pairs that ran one after the other (A B, B A, ...),
with the smallest and the largest, wall time and processor time apart. --assert ends with 1 where a median is over its
goal. Python standard library and git only; everything happens in a temporary folder with a home of its own.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STATUS = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-uall"]
missed = []


class Bench:
    def __init__(self, folder, binary):
        self.folder = folder
        home = os.path.join(folder, "home")
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, ".gitconfig"), "w", encoding="utf-8") as f:
            f.write("[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n")
        self.env = {
            "PATH": os.path.dirname(binary) + os.pathsep + os.environ["PATH"],
            "HOME": home,
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, argv, cwd, ok=(0,), feed=b""):
        done = subprocess.run(argv, cwd=cwd, env=self.env, input=feed, capture_output=True, check=False)
        if done.returncode not in ok:
            sys.exit("%s: exit %d\n%s" % (argv, done.returncode, done.stderr.decode("utf-8", "replace")))
        return done.stdout.decode("utf-8", "replace").strip()

    def timed(self, argv, cwd, ok=(0,), feed=b""):
        """Wall and processor seconds of one run."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        self.run(argv, cwd, ok, feed)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def repository(self, files):
        """A repository with this many files, about twenty a folder, four folders deep."""
        repo = os.path.join(self.folder, "repo-%d" % files)
        self.run(["git", "init", "-q", "-b", "main", repo], self.folder)
        feed = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=repo, env=self.env, stdin=subprocess.PIPE)
        write = feed.stdin.write
        write(b"commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1700000000 +0000\ndata 4\nbase\n")
        for i in range(files):
            a = i // 20
            path = "pkg%02d/mod%03d/d%04d/file_%d.rs" % (a % 50, (a // 50) % 40, a // 2000, i)
            body = ("// file %d\npub fn f%d() -> u64 { %d }\n" % (i, i, i) * (1 + i % 20)).encode()
            write(b"M 100644 inline %s\ndata %d\n" % (path.encode(), len(body)) + body + b"\n")
        settings = b'[tests]\ncommand = "true"\n'
        write(b"M 100644 inline endwell.toml\ndata %d\n" % len(settings) + settings + b"\n")
        ignored = b"/target/\n*.log\nnode_modules\n"
        write(b"M 100644 inline .gitignore\ndata %d\n" % len(ignored) + ignored + b"\n")
        feed.stdin.close()
        if feed.wait() != 0:
            sys.exit("git fast-import failed")
        self.run(["git", "reset", "-q", "--hard", "main"], repo)
        self.run(["git", "init", "-q", "--bare", repo + ".git"], self.folder)
        self.run(["git", "remote", "add", "origin", repo + ".git"], repo)
        self.run(["git", "push", "-q", "-u", "origin", "main"], repo)
        return repo


def pairs(count, one, other):
    """Runs both in turns; the first round is thrown away."""
    rows = []
    for i in range(count + 1):
        if i % 2:
            b, a = other(), one()
        else:
            a, b = one(), other()
        rows.append((a, b))
    return rows[1:]


def say(name, rows, goal):
    """One line: the median ratio with its range, and the median times."""
    text = "%-54s" % name
    for kind, label in ((0, "wall"), (1, "cpu")):
        ratios = sorted(b[kind] / a[kind] for a, b in rows if a[kind] > 0)
        if not ratios:
            continue
        median = statistics.median(ratios)
        text += "  %s ratio %.2f (%.2f-%.2f)" % (label, median, ratios[0], ratios[-1])
        if goal and kind == 0 and median > goal:
            missed.append("%s: %.2f, the goal is %.2f" % (name, median, goal))
    base, ours = (statistics.median(row[i][0] for row in rows) * 1000 for i in (0, 1))
    print(text + "  %.1f ms against %.1f ms" % (ours, base) + (", goal %.2f" % goal if goal else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(TOP, "target/release/endwell"))
    parser.add_argument("--files", type=int, action="append", help="sizes of the repositories (default 20, 5000, 27000)")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--husky", help="husky's program: pushes are measured beside it, in the same turns")
    parser.add_argument("--assert", dest="must", action="store_true", help="fail where a goal is missed")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    if not os.access(binary, os.X_OK):
        sys.exit("%s is not there: `cargo build --release` makes it" % binary)
    folder = tempfile.mkdtemp(prefix="endwell-bench-")
    try:
        measure(Bench(folder, binary), args)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    size = os.path.getsize(binary) / 1e6
    print("binary %.1f MB, goal 9.0" % size)
    if size > 9.0:
        missed.append("the binary has %.1f MB" % size)
    for line in missed:
        print("over its goal: " + line)
    sys.exit(1 if missed and args.must else 0)


def measure(bench, args):
    true = shutil.which("true")
    rows = pairs(args.pairs, lambda: bench.timed([true], bench.folder), lambda: bench.timed(["endwell", "--version"], bench.folder))
    say("endwell --version / true", rows, 3.0)
    long_range(bench, args)
    for files in args.files or [20, 5000, 27000]:
        repo = bench.repository(files)
        goal = 1.15 if files >= 27000 else 1.3 if files >= 5000 else None
        rows = pairs(
            args.pairs,
            lambda repo=repo: bench.timed(STATUS, repo),
            lambda repo=repo: bench.timed(["endwell", "check", "--format", "json"], repo, ok=(0, 1)),
        )
        say("endwell check / git status, %d files" % files, rows, goal)
        pushes(bench, repo, files, args)
        shutil.rmtree(repo, ignore_errors=True)
        shutil.rmtree(repo + ".git", ignore_errors=True)


def long_range(bench, args):
    """The hook alone on a range of 1,000 commits that add 10,000 lines, beside `git log -p` of the same."""
    repo = bench.repository(200)
    feed = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=repo, env=bench.env, stdin=subprocess.PIPE)
    base, text = bench.run(["git", "rev-parse", "main"], repo), {}
    for i in range(1000):
        path = "src/part%03d.rs" % (i % 100)
        text[path] = text.get(path, "") + "".join("pub fn f%d_%d() -> u64 { %d }\n" % (i, k, k) for k in range(10))
        body = text[path].encode()
        head = "commit refs/heads/long\ncommitter Bench <bench@example.invalid> %d +0000\ndata 4\nnext\n" % (1700000001 + i)
        start = "from %s\n" % base if i == 0 else ""
        feed.stdin.write((head + start + "M 100644 inline %s\ndata %d\n" % (path, len(body))).encode() + body + b"\n")
    feed.stdin.close()
    if feed.wait() != 0:
        sys.exit("git fast-import failed")
    bench.run(["endwell", "install"], repo)
    tip = bench.run(["git", "rev-parse", "long"], repo)
    line = ("refs/heads/long %s refs/heads/long %s\n" % (tip, "0" * 40)).encode()
    hook = ["endwell", "hook", "pre-push", "origin", repo + ".git"]
    rows = pairs(
        args.pairs,
        lambda: bench.timed(["git", "log", "-p", "%s..%s" % (base, tip)], repo),
        lambda: bench.timed(hook, repo, feed=line),
    )
    say("judging 1,000 commits, 10,000 lines / git log -p", rows, 1.5)
    shutil.rmtree(repo, ignore_errors=True)
    shutil.rmtree(repo + ".git", ignore_errors=True)


def pushes(bench, repo, files, args):
    """The same commit to two branches: once with the hook, once without; the evidence is there."""
    bench.run(["endwell", "install"], repo)

    def push(branch, *options):
        return bench.timed(["git", *options, "push", "-q", "origin", "HEAD:refs/heads/" + branch], repo)

    if args.husky:
        # its folder is ignored by git, the script is in the exclude list: the bench stays clean
        with open(os.path.join(repo, ".git/info/exclude"), "a", encoding="utf-8") as f:
            f.write("/.husky/\n")
        os.makedirs(os.path.join(repo, ".husky"), exist_ok=True)
        with open(os.path.join(repo, ".husky/pre-push"), "w", encoding="utf-8") as f:
            f.write("git diff --name-only origin/main HEAD | xargs grep -l '^<<<<<<< ' && exit 1\nexit 0\n")
        bench.run([args.husky], repo)
        bench.run(["git", "config", "--unset", "core.hooksPath"], repo)
    bench.run(["endwell", "verify"], repo)
    peer = []
    rows = []
    for i in range(args.pairs + 1):
        # an empty commit has the tree of its parent, whose evidence is there
        bench.run(["git", "commit", "-q", "--allow-empty", "-m", "commit %d" % i], repo)
        plain = ("plain", "-c", "core.hooksPath=" + os.devnull)
        if i % 2:
            b, a = push("gated"), push(*plain)
        else:
            a, b = push(*plain), push("gated")
        rows.append((a, b))
        if args.husky:
            peer.append((a, push("husky", "-c", "core.hooksPath=.husky/_")))
    say("git push with the hook / without, %d files" % files, rows[1:], 1.4 if files < 1000 else None)
    if args.husky:
        say("git push with a small check under husky / without, %d files" % files, peer[1:], None)
        ours, theirs = (statistics.median(b[0] / a[0] for a, b in some[1:]) for some in (rows, peer))
        if files < 1000 and ours > theirs:
            missed.append("a push with endwell takes %.2f, with husky %.2f" % (ours, theirs))
    bench.run(["endwell", "note", "next", "Go on"], repo)
    bench.run(["endwell", "handoff"], repo)
    rows = pairs(args.pairs, lambda: bench.timed(STATUS, repo), lambda: bench.timed(["endwell", "handoff"], repo))
    say("repeated endwell handoff / git status, %d files" % files, rows, None)
    bench.run(["endwell", "uninstall"], repo)


if __name__ == "__main__":
    main()

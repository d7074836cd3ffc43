#!/usr/bin/env python3
"""hooks.py - how long an agent's client waits for endwell's hooks.

    benches/hooks.py [--binary FILE] [--files N] [--large N] [--rounds N] [--assert]

Sessions of a scripted client in a repository of --files files (default 5000): each round is a start (which injects a
packet), a turn's end with nothing changed, one with a change, and an end; the median of each has to stay below 60 ms. Then
the end alone in a large one (default 100000; 0 leaves it out), beside one `git status`: at most 1.3 times that and 40 ms.
--assert ends with 1 where a goal is missed. Everything happens in a temporary folder.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from side_by_side import STATUS, TOP, Bench

GOAL_MS = 60.0
missed = []


class Client:
    """One session; its hooks are called by this process, as a client calls them."""

    def __init__(self, bench, repo, session):
        self.bench, self.repo = bench, repo
        self.told = json.dumps({"session_id": session, "cwd": repo}).encode()

    def hook(self, moment):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        argv = ["endwell", "hook", moment, "--client", "claude"]
        done = subprocess.run(argv, cwd=self.repo, env=self.bench.env, input=self.told, capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit("%s: exit %d" % (argv, done.returncode))
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return (wall * 1000, processor * 1000), done.stdout


def show(name, rows, goal):
    """One line: the median of the wall time, its range, and the median of the processor time."""
    times = [wall for wall, _ in rows]
    median, processor = statistics.median(times), statistics.median(processor for _, processor in rows)
    text = "%-42s median %6.1f ms (%.1f-%.1f), processor %6.1f ms, goal %.0f"
    print(text % (name, median, min(times), max(times), processor, goal), flush=True)
    if median > goal:
        missed.append("%s: %.1f ms, the goal is %.0f" % (name, median, goal))


def prepared(bench, files):
    """A repository with endwell, evidence and a packet."""
    repo = bench.repository(files)
    for words in (["install", "--agent", "claude"], ["verify"], ["note", "next", "Go on"], ["handoff"]):
        bench.run(["endwell", *words], repo)
    return repo


def sessions(bench, args):
    repo = prepared(bench, args.files)
    times = {"start": [], "turn end, nothing changed": [], "turn end, one change": [], "end": [], "git status": []}
    for i in range(args.rounds + 1):
        client = Client(bench, repo, "bench-%d" % i)
        path = os.path.join(repo, "pkg00/mod000/d0000/file_%d.rs" % (i % 20))
        took, said = client.hook("start")
        if b"endwell-handoff-" not in said:
            sys.exit("the start injected no packet: %r" % said)
        client.hook("prompt")
        row = [took, client.hook("stop")[0]]
        before = open(path, "rb").read()
        with open(path, "ab") as file:
            file.write(b"// changed\n")
        row.append(client.hook("stop")[0])
        with open(path, "wb") as file:
            file.write(before)
        row.append(client.hook("end")[0])
        row.append(tuple(seconds * 1000 for seconds in bench.timed(STATUS, repo)))
        if i > 0:
            for name, took in zip(times, row):
                times[name].append(took)
    for name, took in times.items():
        show("%s, %d files" % (name, args.files), took, GOAL_MS)


def large_end(bench, args):
    repo = prepared(bench, args.large)
    took, status = [], []
    for i in range(args.rounds + 1):
        client = Client(bench, repo, "bench-%d" % i)
        client.hook("start")
        pair = (bench.timed(STATUS, repo)[0] * 1000, client.hook("end")[0])
        if i > 0:
            status.append(pair[0])
            took.append(pair[1])
    base = statistics.median(status)
    print("one git status of %d files: %.1f ms" % (args.large, base), flush=True)
    show("end, %d files" % args.large, took, 1.3 * base + 40)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(TOP, "target/release/endwell"))
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--large", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--assert", dest="must", action="store_true", help="fail where a goal is missed")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    if not os.access(binary, os.X_OK):
        sys.exit("%s is not there: `cargo build --release` makes it" % binary)
    folder = tempfile.mkdtemp(prefix="endwell-bench-")
    try:
        bench = Bench(folder, binary)
        sessions(bench, args)
        if args.large:
            large_end(bench, args)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in missed:
        print("over its goal: " + line)
    sys.exit(1 if missed and args.must else 0)


if __name__ == "__main__":
    main()

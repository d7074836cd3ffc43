#!/usr/bin/env python3
"""model_stand_in.py - a scripted stand-in for a model server, for end-to-end tests of coding agents.

    model_stand_in.py --log requests.jsonl [--script steps.json] [--port-file FILE] [--cwd DIR] [--port N]

Python standard library only. Binds 127.0.0.1 on a random port, prints `PORT <n>` (and writes n to
--port-file) once it listens, runs until it is killed. It speaks, streamed and plain:
    Anthropic Messages       POST */messages, */messages/count_tokens
    OpenAI Responses         POST */responses, */responses/compact
    OpenAI Chat Completions  POST */chat/completions
    Gemini                   POST */models/M:generateContent | :streamGenerateContent | :countTokens
    model lists              GET  */models

steps.json: a list of steps; each main request takes the next one. After the last: the text "FAKE-DONE".
    {"shell": "cargo test"}                        call the client's own shell tool (name and arguments are
                                                   picked from the tools that the request offers)
    {"write": {"path": "a.py", "content": "..."}}  write a file with the client's own tool (relative paths
                                                   are taken from --cwd), or by shell where it has none
    {"tool": "Name", "input": {...}}               call exactly this tool
    {"text": "All done."}                          a final answer
    {"http": 529, "body": {...}}                   an API error
    {"disconnect": true}                           drop the connection without an answer
Any step may add "delay": seconds and "usage": {"input": N, "output": N, "cached": N}, which is how a test
drives the context percentage that a client computes. The file may also be an object:
    {"steps": [...], "usage": {...default...}, "side_text": "...", "toolless_is_main": true}

A "main" request is one that offers tools. Requests without tools (titles, routing, quota probes) get
"side_text" (default FAKE-SIDE, or a JSON object where JSON is asked for) and use up no step;
"toolless_is_main" (for SDK examples without tools) lets them take steps too. Compaction is a main request
in clients that send their tools with it (Claude Code), a side request in the others.

The log has one JSON object a line per POST, written before the answer is sent:
    {"n", "t", "path", "api", "main", "step", "tools": [names], "last_user", "body"}
so `grep -c MARK requests.jsonl` tells whether a text reached the model. After --max-requests (default 100)
every main request is answered with HTTP 400: a client without a cap on blocking stop hooks cannot spin forever.
"""
import argparse
import gzip
import json
import os
import shlex
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
CFG = {"steps": [], "usage": {}, "side_text": "FAKE-SIDE", "toolless_is_main": False}
ST = {"n": 0, "step": 0, "log": None, "cwd": ".", "max": 100}

SHELL_TOOLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell", "terminal", "execute_command")
WRITE_TOOLS = ("Write", "write", "write_file", "create", "create_file")


def rid(prefix):
    return prefix + uuid.uuid4().hex[:20]


def flat(content):
    """Text of a content value in any of the four APIs (string, part, list of parts); tool results left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    out = []
    for p in content or []:
        if isinstance(p, str):
            out.append(p)
        elif isinstance(p, dict) and p.get("type") != "tool_result":
            out.append(p.get("text") or "")
    return "\n".join(x for x in out if x)


def read_request(api, b):
    """-> (tools {name: json schema or None}, last user text)"""
    tools, last = {}, ""
    if api == "gemini":
        for t in b.get("tools") or []:
            for f in t.get("functionDeclarations") or []:
                tools[f.get("name")] = f.get("parametersJsonSchema") or f.get("parameters") or {}
        msgs = [(m.get("role", "user"), flat(m.get("parts"))) for m in b.get("contents") or []]
    else:
        for t in b.get("tools") or []:
            f = t.get("function") or t
            name = f.get("name") or t.get("type")
            tools[name] = None if t.get("type") == "custom" else (f.get("parameters") or f.get("input_schema") or {})
        seq = b.get("messages") if api in ("anthropic", "chat") else b.get("input")
        if isinstance(seq, str):
            seq = [{"role": "user", "content": seq}]
        msgs = [(m.get("role"), flat(m.get("content"))) for m in seq or [] if isinstance(m, dict)]
    for role, text in msgs:
        if role == "user" and text:
            last = text
    return tools, last


def props(schema):
    return (schema or {}).get("properties") or {}


def shell_call(cmd, tools):
    name = next((t for t in SHELL_TOOLS if t in tools), None)
    if not name:
        return None
    p = props(tools[name])
    key = next((k for k in ("command", "cmd", "script") if k in p), "command")
    args = {key: ["bash", "-lc", cmd] if p.get(key, {}).get("type") == "array" else cmd}
    if "description" in p:
        args["description"] = "scripted step"
    if "is_background" in p:
        args["is_background"] = False
    return name, args


def write_call(w, tools):
    path = os.path.join(ST["cwd"], w["path"])
    name = next((t for t in WRITE_TOOLS if t in tools), None)
    if name:
        p = props(tools[name])
        pk = next((k for k in ("file_path", "filePath", "absolute_path", "path") if k in p), "path")
        ck = next((k for k in ("content", "file_text", "text") if k in p), "content")
        return name, {pk: path, ck: w["content"]}
    if "apply_patch" in tools and tools["apply_patch"] is None:
        body = "".join("+%s\n" % x for x in w["content"].splitlines())
        return "apply_patch", "*** Begin Patch\n*** Add File: %s\n%s*** End Patch\n" % (path, body)
    return shell_call("mkdir -p %s && printf %%s %s > %s" % tuple(
        shlex.quote(x) for x in (os.path.dirname(path), w["content"], path)), tools)


def plan(step, tools):
    """-> ("text", str) | ("call", name, args)"""
    if "shell" in step:
        call = shell_call(step["shell"], tools)
    elif "write" in step:
        call = write_call(step["write"], tools)
    elif "tool" in step:
        call = (step["tool"], step.get("input", {}))
    else:
        return ("text", step.get("text", "FAKE-DONE"))
    if not call:
        return ("text", "FAKE-NO-TOOL for %s among %s" % (json.dumps(step), sorted(map(str, tools))))
    return ("call",) + tuple(call)


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    # ---- plumbing ----------------------------------------------------------
    def read_body(self):
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            raw = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                raw += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            v = json.loads(raw) if raw else {}
        except ValueError:
            v = {}
        return v if isinstance(v, dict) else {"_list": v}

    def send_json(self, obj, code=200):
        data = json.dumps(obj).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def sse(self, events, named=True, done=False):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        for e in events:
            head = "event: %s\n" % e["type"] if named else ""
            self.wfile.write((head + "data: %s\n\n" % json.dumps(e)).encode())
        if done:
            self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        self.close_connection = True

    # ---- routing -----------------------------------------------------------
    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        if not self.path.split("?")[0].endswith("/models"):
            return self.send_json({"error": {"message": "not found"}}, 404)
        ids = ["fake-model", "gpt-4.1", "gpt-5"]
        self.send_json({"object": "list", "models": [],
                        "data": [{"id": i, "object": "model", "created": 1, "owned_by": "fake", "name": i,
                                  "context_length": 200000} for i in ids]})

    def do_POST(self):
        b = self.read_body()
        p = self.path.split("?")[0]
        api = ("count" if p.endswith(("/count_tokens", ":countTokens")) else "anthropic" if p.endswith("/messages")
               else "responses" if p.endswith("/responses") else "compact" if p.endswith("/responses/compact")
               else "chat" if p.endswith("/chat/completions") else "gemini" if "enerateContent" in p else "other")
        tools, last = read_request(api, b)
        main = api in ("anthropic", "responses", "chat", "gemini") and bool(tools or CFG["toolless_is_main"])
        with LOCK:
            ST["n"] += 1
            n, i = ST["n"], None
            if main:
                i = ST["step"]
                ST["step"] += 1
            if ST["log"]:
                with open(ST["log"], "a", encoding="utf-8") as f:
                    f.write(json.dumps({"n": n, "t": round(time.time(), 3), "path": self.path, "api": api, "main": main,
                                        "step": i, "tools": sorted(map(str, tools)), "last_user": last, "body": b}) + "\n")
        if api == "count":
            return self.send_json({"input_tokens": 1000, "totalTokens": 1000})
        if api == "compact":
            return self.send_json({"output": [{"type": "message", "role": "assistant",
                                               "content": [{"type": "output_text", "text": "FAKE-COMPACT-SUMMARY"}]}]})
        if api == "other":
            return self.send_json({})
        if main:
            step = CFG["steps"][i] if i < len(CFG["steps"]) else {"text": "FAKE-DONE"}
            if i >= ST["max"]:
                step = {"http": 400, "body": {"error": {"type": "invalid_request_error", "message": "fake: --max-requests reached"}}}
        else:
            step = {"text": self.side(api, b)}
        if step.get("delay"):
            time.sleep(step["delay"])
        if step.get("disconnect"):
            self.close_connection = True
            return self.connection.close()
        if step.get("http"):
            return self.send_json(step.get("body") or {"error": {"type": "overloaded_error", "message": "fake"}}, step["http"])
        u = dict({"input": 1000, "output": 20, "cached": 0}, **CFG["usage"])
        u.update(step.get("usage") or {})
        getattr(self, "api_" + api)(b, plan(step, tools), u)

    def side(self, api, b):
        wants_json = (b.get("generationConfig") or {}).get("responseMimeType") == "application/json" or \
            (b.get("response_format") or {}).get("type", "text") != "text"
        if wants_json:  # routers and "next speaker" checks
            return json.dumps({"reasoning": "fake", "next_speaker": "user", "model_choice": "flash", "title": "fake",
                               "complexity_reasoning": "fake", "complexity_score": 1})
        return CFG["side_text"]

    # ---- Anthropic Messages ------------------------------------------------
    def api_anthropic(self, b, act, u):
        if act[0] == "call":
            full = {"type": "tool_use", "id": rid("toolu_"), "name": act[1], "input": act[2]}
            start, delta, why = dict(full, input={}), {"type": "input_json_delta", "partial_json": json.dumps(act[2])}, "tool_use"
        else:
            full, start = {"type": "text", "text": act[1]}, {"type": "text", "text": ""}
            delta, why = {"type": "text_delta", "text": act[1]}, "end_turn"
        use = {"input_tokens": u["input"], "cache_creation_input_tokens": 0, "cache_read_input_tokens": u["cached"],
               "output_tokens": u["output"]}
        msg = {"id": rid("msg_"), "type": "message", "role": "assistant", "model": b.get("model"), "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": dict(use, output_tokens=1)}
        if not b.get("stream"):
            return self.send_json(dict(msg, content=[full], stop_reason=why, usage=use))
        self.sse([{"type": "message_start", "message": msg},
                  {"type": "content_block_start", "index": 0, "content_block": start},
                  {"type": "content_block_delta", "index": 0, "delta": delta},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None},
                   "usage": {"output_tokens": u["output"]}},
                  {"type": "message_stop"}])

    # ---- OpenAI Responses --------------------------------------------------
    def api_responses(self, b, act, u):
        call = act[0] == "call"
        if call and isinstance(act[2], str):
            item = {"type": "custom_tool_call", "id": rid("ctc_"), "call_id": rid("call_"), "name": act[1], "input": act[2], "status": "completed"}
        elif call:
            item = {"type": "function_call", "id": rid("fc_"), "call_id": rid("call_"), "name": act[1],
                    "arguments": json.dumps(act[2]), "status": "completed"}
        else:
            item = {"type": "message", "id": rid("msg_"), "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": act[1], "annotations": []}]}
        resp = {"id": rid("resp_"), "object": "response", "created_at": int(time.time()), "status": "completed",
                "model": b.get("model") or "fake-model", "output": [item], "parallel_tool_calls": False, "tools": [],
                "tool_choice": "auto", "error": None, "incomplete_details": None, "instructions": None, "metadata": {},
                "temperature": 1, "top_p": 1,
                "usage": {"input_tokens": u["input"], "input_tokens_details": {"cached_tokens": u["cached"]},
                          "output_tokens": u["output"], "output_tokens_details": {"reasoning_tokens": 0},
                          "total_tokens": u["input"] + u["output"]}}
        if not b.get("stream"):
            return self.send_json(resp)
        ev = [{"type": "response.created", "response": dict(resp, status="in_progress", output=[], usage=None)},
              {"type": "response.output_item.added", "output_index": 0,
               "item": dict(item, status="in_progress", **({} if call else {"content": []}))}]
        if not call:
            k = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            part = {"type": "output_text", "text": "", "annotations": []}
            ev += [dict(k, type="response.content_part.added", part=part),
                   dict(k, type="response.output_text.delta", delta=act[1]),
                   dict(k, type="response.output_text.done", text=act[1]),
                   dict(k, type="response.content_part.done", part=item["content"][0])]
        elif "arguments" in item:
            k = {"item_id": item["id"], "output_index": 0}
            ev += [dict(k, type="response.function_call_arguments.delta", delta=item["arguments"]),
                   dict(k, type="response.function_call_arguments.done", arguments=item["arguments"])]
        ev += [{"type": "response.output_item.done", "output_index": 0, "item": item},
               {"type": "response.completed", "response": resp}]
        self.sse([dict(e, sequence_number=n) for n, e in enumerate(ev)])

    # ---- OpenAI Chat Completions -------------------------------------------
    def api_chat(self, b, act, u):
        use = {"prompt_tokens": u["input"], "completion_tokens": u["output"], "total_tokens": u["input"] + u["output"],
               "prompt_tokens_details": {"cached_tokens": u["cached"]}}
        base = {"id": rid("chatcmpl-"), "created": int(time.time()), "model": b.get("model") or "fake-model"}
        if act[0] == "call":
            tc = {"id": rid("call_"), "type": "function", "function": {"name": act[1], "arguments": json.dumps(act[2])}}
            msg, why = {"role": "assistant", "content": None, "tool_calls": [tc]}, "tool_calls"
        else:
            msg, why = {"role": "assistant", "content": act[1]}, "stop"
        if not b.get("stream"):
            return self.send_json(dict(base, object="chat.completion", usage=use,
                                       choices=[{"index": 0, "message": msg, "finish_reason": why}]))
        if act[0] == "call":
            msg = dict(msg, tool_calls=[dict(tc, index=0)])
        c = dict(base, object="chat.completion.chunk")
        self.sse([dict(c, choices=[{"index": 0, "delta": msg, "finish_reason": None}]),
                  dict(c, choices=[{"index": 0, "delta": {}, "finish_reason": why}]),
                  dict(c, choices=[], usage=use)], named=False, done=True)

    # ---- Gemini ------------------------------------------------------------
    def api_gemini(self, b, act, u):
        part = {"functionCall": {"name": act[1], "args": act[2]}} if act[0] == "call" else {"text": act[1]}
        r = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": u["input"], "candidatesTokenCount": u["output"],
                               "cachedContentTokenCount": u["cached"], "totalTokenCount": u["input"] + u["output"]},
             "modelVersion": "fake-model"}
        if "streamGenerateContent" in self.path:
            return self.sse([r], named=False)
        self.send_json(r)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--log", help="JSONL file that gets every request")
    ap.add_argument("--script", help="steps.json")
    ap.add_argument("--port-file", help="file that gets the port number once the server listens")
    ap.add_argument("--port", type=int, default=0, help="default 0: any free port")
    ap.add_argument("--cwd", default=os.getcwd(), help="folder that relative paths of write steps start from")
    ap.add_argument("--max-requests", type=int, default=100)
    a = ap.parse_args()
    ST.update(log=a.log, cwd=os.path.abspath(a.cwd), max=a.max_requests)
    if a.script:
        with open(a.script, encoding="utf-8") as f:
            s = json.load(f)
        CFG.update(s if isinstance(s, dict) else {"steps": s})
    if a.log:
        open(a.log, "a", encoding="utf-8").close()
    srv = ThreadingHTTPServer(("127.0.0.1", a.port), H)
    srv.daemon_threads = True
    port = srv.server_address[1]
    if a.port_file:
        with open(a.port_file + ".tmp", "w", encoding="utf-8") as f:
            f.write("%d\n" % port)
        os.replace(a.port_file + ".tmp", a.port_file)
    print("PORT", port, flush=True)
    try:
        srv.serve_forever()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

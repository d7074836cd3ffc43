//! A corpus of generated secrets and of texts that only look like them: no secret stays, no look-alike is damaged.

use endwell::feedback::keep_safe;
use endwell::model::feedback::FeedbackRecord;
use endwell::redact::Redactor;

/// A small generator with a fixed seed: the corpus is the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % below
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.next(letters.len())]).collect()
    }
}

const WORD: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// Kinds: what stands in front of the secret, its prefix, its alphabet and its length.
const KINDS: [(&str, &str, &str, usize); 40] = [
    ("key ", "AKIA", UPPER, 16),
    ("aws_secret_access_key=", "", WORD, 40),
    ("", "ghp_", WORD, 36),
    ("", "github_pat_", WORD, 82),
    ("", "glpat-", WORD, 20),
    ("", "xoxb-123456789012-123456789012-", WORD, 24),
    ("https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/", "", WORD, 24),
    ("", "sk_live_", WORD, 24),
    ("", "rk_test_", WORD, 30),
    ("", "sk-proj-", WORD, 48),
    ("", "sk-", WORD, 48),
    ("", "sk-ant-api03-", WORD, 93),
    ("", "AIza", WORD, 35),
    ("", "npm_", WORD, 36),
    ("", "pypi-AgEIcHlwaS5vcmc", WORD, 60),
    ("", "SG.aaaaaaaaaaaaaaaaaaaaaa.", WORD, 43),
    ("", "SK", HEX, 32),
    ("AccountKey=", "", WORD, 86),
    ("Authorization: Bearer ", "", WORD, 40),
    ("Authorization: Basic ", "", WORD, 32),
    ("postgres://ada:", "", WORD, 16),
    ("PGPASSWORD=", "", WORD, 14),
    ("password: ", "", WORD, 14),
    ("", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", WORD, 43),
    ("", "hvs.", WORD, 24),
    ("", "dop_v1_", HEX, 64),
    ("", "shpat_", HEX, 32),
    ("", "dapi", HEX, 32),
    ("", "hf_", WORD, 34),
    ("", "rubygems_", HEX, 48),
    // kinds of public rule lists that have no rule of their own name here
    ("", "lin_api_", WORD, 40),
    ("", "pscale_tkn_", WORD, 43),
    ("", "NRAK-", UPPER, 27),
    ("", "glsa_", WORD, 32),
    ("", "figd_", WORD, 40),
    ("", "sntrys_", WORD, 64),
    ("DATADOG_API_KEY=", "", HEX, 32),
    ("heroku_api_key: ", "", LOWER, 36),
    ("twitter_access_token=", "", WORD, 45),
    ("\"client_secret\": \"", "", LOWER, 40),
];

/// More kinds of the public list of gitleaks, by its shapes; hardly any has a rule of its own name here.
const LISTED: [(&str, &str, &str, usize); 50] = [
    ("", "ops_eyJ", WORD, 250),
    ("", "p8e-", LOWER, 32),
    ("", "AKCp", WORD, 69),
    ("", "cmVmd", WORD, 59),
    ("", "ABSK", WORD, 120),
    ("", "CLOJARS_", LOWER, 60),
    ("", "v1.0-0123456789abcdef01234567-", HEX, 146),
    ("", "dnkey-abcdefghijklmnopqrstuvwxyz-", LOWER, 52),
    ("", "dp.pt.", WORD, 43),
    ("", "duffel_live_", WORD, 43),
    ("", "EZAK", WORD, 54),
    ("", "FLWSECK_TEST-", HEX, 32),
    ("", "fo1_", WORD, 43),
    ("", "fio-u-", WORD, 64),
    ("", "live_", WORD, 40),
    ("", "glc_", WORD, 60),
    ("", "eyJrIjoi", WORD, 70),
    ("", "pat.Zm9vYmFyYmF6cXV4MTIzNA.abcdefghijkl012345678901.", WORD, 20),
    ("", "HRKU-AA", WORD, 58),
    ("", "ico-", WORD, 32),
    ("", "s-s4t2ud-", HEX, 64),
    ("", "live_pub_", HEX, 31),
    ("", "ntn_12345678901", WORD, 35),
    ("", "API-", UPPER, 26),
    ("", "pplx-", WORD, 48),
    ("", "pnu_", WORD, 36),
    ("", "rdme_", LOWER, 70),
    ("", "tk-us-", WORD, 48),
    ("", "sm_aat_", WORD, 16),
    ("", "shippo_live_", HEX, 40),
    ("", "sgp_", HEX, 40),
    ("", "NRII-", LOWER, 32),
    ("", "NRJS-", HEX, 19),
    ("", "tfp_", WORD, 59),
    ("", "AQVN", WORD, 38),
    ("", "squ_", HEX, 40),
    ("", "sl.", WORD, 135),
    ("", "Ab3dE6_", WORD, 29),
    ("MERAKI_DASHBOARD_API_KEY=", "", HEX, 40),
    ("CLOUDFLARE_API_TOKEN=", "", WORD, 40),
    ("export OKTA_API_TOKEN=00", "", WORD, 40),
    ("fastly_api_token: ", "", LOWER, 32),
    ("TRAVIS_TOKEN=", "", LOWER, 22),
    ("https://x.webhook.office.com/webhookb2/1-2@3-4/IncomingWebhook/", "", HEX, 32),
    ("<add key=\"ClearTextPassword\" value=\"", "", WORD, 16),
    ("_gitlab_session=", "", LOWER, 32),
    ("machine example.org login ada password ", "", WORD, 12),
    ("https://ada:p@", "", WORD, 14),
    ("password=", "", SMALL, 9),
    ("redis://:", "", WORD, 12),
];
const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";

fn secrets() -> Vec<(String, String)> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut all = Vec::new();
    for (before, prefix, alphabet, length) in KINDS.into_iter().chain(LISTED) {
        for _ in 0..10 {
            let body = random.text(alphabet, length);
            let after = match (before, prefix) {
                (before, _) if before.starts_with("postgres") => "@db.example.org/x",
                (before, _) if before.starts_with("https://ada") => "@example.org/x",
                (before, _) if before.starts_with("redis") => "@example.org:6379",
                (before, _) if before.ends_with('"') => "\"",
                (_, "FLWSECK_TEST-") => "-X",
                (_, "Ab3dE6_") => "_mmk",
                _ => "",
            };
            all.push((format!("{before}{prefix}{body}{after}"), body));
        }
    }
    all
}

fn look_alikes() -> Vec<String> {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut all = Vec::new();
    for _ in 0..30 {
        let hex = |random: &mut Random, length| random.text(HEX, length);
        let mixed = |random: &mut Random, length| random.text(WORD, length);
        all.push(format!("commit {}", hex(&mut random, 40)));
        all.push(format!("sha256:{}", hex(&mut random, 64)));
        let parts: Vec<String> =
            [8, 4, 4, 4, 12].into_iter().map(|length| hex(&mut random, length)).collect();
        all.push(parts.join("-"));
        all.push(format!("\"integrity\": \"sha512-{}==\"", mixed(&mut random, 86)));
        all.push(format!("checksum = \"{}\"", hex(&mut random, 64)));
        all.push(format!("example.org/m v1.2.3 h1:{}=", mixed(&mut random, 43)));
        all.push(format!("data:image/png;base64,{}", mixed(&mut random, 200)));
        all.push(format!("target/debug/deps/app-{}.d", hex(&mut random, 16)));
        all.push(format!("dist/assets/index-{}.js", mixed(&mut random, 24)));
        all.push(format!("index {}..{} 100644", hex(&mut random, 10), hex(&mut random, 10)));
        all.push(format!("src/{}/token_{}.rs:17", random.text("abcdefghij", 9), random.text("klmnop", 7)));
    }
    all
}

#[test]
fn no_secret_of_the_corpus_stays() {
    let redactor = Redactor::new(Some("/home/ada"));
    let mut left = Vec::new();
    for (text, body) in secrets() {
        for line in [format!("{text}\n"), format!("before {text} after"), format!("\u{1b}[1m{text}\u{1b}[0m")]
        {
            let record = FeedbackRecord {
                command: vec!["sh".into(), "-c".into(), line.clone()],
                exit_code: Some(1),
                stdout_tail: line.clone(),
                stderr_tail: format!("x\n{line}"),
                ..FeedbackRecord::default()
            };
            let kept = serde_json::to_string(&keep_safe(&redactor, record)).unwrap();
            if kept.contains(&body) {
                left.push(line);
            }
        }
    }
    assert!(left.is_empty(), "{} of {} are left: {left:#?}", left.len(), secrets().len() * 3);
}

#[test]
fn no_look_alike_is_damaged() {
    let redactor = Redactor::new(Some("/home/ada"));
    let all = look_alikes();
    assert!(all.len() >= 300);
    let damaged: Vec<String> =
        all.iter().filter(|text| redactor.text(text) != **text).map(|text| redactor.text(text)).collect();
    assert!(damaged.is_empty(), "{damaged:#?}");
}

/// What people and other gates wrote themselves: it stays theirs, and comes into the packet.
fn by_others(sandbox: &crate::common::Sandbox, lines: &[String]) {
    let text = lines.join("\n");
    let state = serde_json::json!({
        "schema_version": 1, "active_task_id": "main", "next_action": format!("Run `make` with {}", lines[2]),
        "assumptions": lines, "blockers": lines, "questions": lines,
        "open_risks": lines.iter().map(|line| serde_json::json!({"severity": "warn", "detail": line})).collect::<Vec<_>>(),
    });
    sandbox.write("agent_state.json", &state.to_string());
    let findings: Vec<_> =
        lines.iter().map(|line| serde_json::json!({"severity": "warn", "detail": line})).collect();
    let verdict = serde_json::json!({
        "passed": true, "findings": findings, "head_commit": sandbox.git("repo", &["rev-parse", "HEAD"]),
        "tests": {"command": ["sh", "-c", text], "exit_code": 0, "failing": lines},
    });
    sandbox.write("outputs/verification/main.json", &verdict.to_string());
    let dimensions: Vec<_> = lines
        .iter()
        .map(|line| serde_json::json!({"name": "scope discipline", "score": 0, "note": line}))
        .collect();
    let review = serde_json::json!({"total": 3, "verdict": "soft_fail", "dimensions": dimensions});
    sandbox.write("outputs/review/main.json", &review.to_string());
}

/// Every file below a folder, but those that somebody else wrote.
fn written(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            written(&entry, found);
        } else {
            found.push(entry);
        }
    }
}

/// What the commands say about it.
fn commands(sandbox: &crate::common::Sandbox) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = Vec::new();
    for args in [
        &["handoff", "--session", "one", "--json"][..],
        &["handoff", "--session", "one", "--print"],
        &["handoff", "--session", "one", "--pr-body"],
        &["resume"],
        &["resume", "--json"],
        &["show", "one", "--json"],
        &["log", "--json"],
        &["check", "--format", "json"],
        &["status"],
    ] {
        let ran = sandbox.endwell(args);
        assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
        told.push((args.join(" "), ran.stdout + &ran.stderr));
    }
    told
}

#[test]
fn no_output_of_any_command_holds_a_secret() {
    let sandbox = crate::handoff::sandbox();
    // one of each kind, on lines of their own
    let all: Vec<(String, String)> = secrets().into_iter().step_by(10).collect();
    assert!(all.len() >= 80);
    let lines: Vec<String> = all.iter().map(|(text, _)| text.clone()).collect();
    let text = lines.join("\n");
    crate::handoff::ready(&sandbox);
    by_others(&sandbox, &lines);
    std::fs::write(sandbox.root().join("secrets.txt"), format!("{text}\n")).unwrap();
    for (line, _) in &all {
        let script = format!("echo {}; exit 1", shell_words::quote(line));
        assert_eq!(sandbox.endwell(&["run", "--note", line, "--", "sh", "-c", &script]).code, Some(1));
    }
    assert_eq!(sandbox.endwell(&["run", "--", "cat", "../secrets.txt"]).code, Some(0));
    let mut told = commands(&sandbox);
    // notes, and a test run of endwell's own
    for (kind, line) in ["next", "risk", "assumption", "question", "blocker"].iter().cycle().zip(&lines) {
        std::fs::remove_file(sandbox.repo().join("agent_state.json")).ok();
        sandbox.endwell(&["note", kind, line]);
        told.push((format!("note {kind}"), sandbox.read("agent_state.json")));
    }
    sandbox.write(
        "endwell.toml",
        "[tests]\ncommand = \"sh -c 'cat ../secrets.txt ../red.txt; echo 1..1; exit 1'\"\n",
    );
    sandbox.commit("tests that print secrets");
    std::fs::write(sandbox.root().join("red.txt"), format!("not ok 1 - login with {}\n", lines[2])).unwrap();
    let ran = sandbox.endwell(&["verify"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    // what an agent hears when its session wraps up is made of these reasons
    let refused = sandbox.endwell(&["handoff"]);
    assert!(refused.stderr.contains("login with"), "{refused:?}");
    told.push(("the refusal".to_owned(), refused.stderr));
    told.push(("the report".to_owned(), sandbox.read("outputs/verification/main.json")));
    let mut files = Vec::new();
    written(&sandbox.repo().join("outputs/handoff"), &mut files);
    written(&sandbox.repo().join(".git/endwell"), &mut files);
    // a record's test names are what risks are compared with: they stay in the git dir as they are, and are redacted on
    // their way into every report
    files.retain(|file| !file.to_string_lossy().contains("/.git/endwell/evidence/"));
    files.extend(
        ["feedback_record.jsonl", "outputs/clean_report.json", "outputs/clean_state.json"]
            .map(|name| sandbox.repo().join(name)),
    );
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        told.push((file.display().to_string(), text));
    }
    let mut left: Vec<String> = Vec::new();
    for (name, text) in &told {
        left.extend(
            all.iter().filter(|(_, body)| text.contains(body)).map(|(line, _)| format!("{name}: {line}")),
        );
    }
    assert!(left.is_empty(), "{} are left: {left:#?}", left.len());
}

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

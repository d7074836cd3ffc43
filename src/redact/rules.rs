//! The maintained rules: one for each kind of secret whose shape tells what it is. A rule's regex is compiled only
//! once one of its keywords was seen. The first group of a pattern is the secret; without a group, all of it is.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

/// A kind of secret.
pub(super) struct Rule {
    /// The word in the mark and in the counts.
    pub kind: &'static str,
    /// One of these stands in every text that can match, in lower case.
    keywords: &'static [&'static str],
    pattern: &'static str,
    /// Whether a match really is a secret.
    pub holds: fn(&str) -> bool,
    compiled: OnceLock<Regex>,
}

impl Rule {
    /// The cheap look in front of the regex.
    pub(super) fn may_match(&self, text: &str) -> bool {
        self.keywords.iter().any(|keyword| text.contains(keyword))
    }

    /// Where a word begins matters to it.
    pub(super) fn begins_a_word(&self) -> bool {
        self.pattern.contains(r"\b")
    }

    pub(super) fn pattern(&self) -> &Regex {
        self.compiled.get_or_init(|| compile(self.pattern))
    }
}

/// E-mail addresses, masked only on request.
pub(super) static MAIL: LazyLock<Regex> =
    LazyLock::new(|| compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"));

/// Compiles a pattern of this file. One that can't be compiled matches nothing; a test compiles all of them.
pub(super) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).or_else(|_| Regex::new(r"[^\s\S]")).unwrap_or_else(|_| unreachable!("a constant"))
}

const fn rule(kind: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind, keywords, pattern, holds: |_| true, compiled: OnceLock::new() }
}

/// The rules, in order: what spans lines first, then URLs and headers, then providers' shapes.
pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(table);

#[expect(clippy::too_many_lines, reason = "a table: one row a rule")]
fn table() -> Vec<Rule> {
    vec![
    rule(
        "private-key",
        &["-----BEGIN"],
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    rule("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    rule("jwt", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    rule("jwt", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){3,4}"),
    rule("url-credentials", &["://"], r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:([^\s/"'<>]{3,})@"#)
        .unless_placeholder(),
    rule("url-credentials", &["://"], r"https?://([A-Za-z0-9_.~-]{16,})@").unless_placeholder(),
    rule(
        "authorization",
        &["uthorization", "AUTHORIZATION", "uthenticat"],
        r#"(?i)(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s+)?([^\s"',;]{6,})"#,
    )
    .unless_placeholder(),
    rule("authorization", &["earer ", "BEARER "], r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})").unless_placeholder(),
    rule(
        "basic-auth",
        &["curl", "wget", "http"],
        r#"(?:\s-u|\s--user|\s--proxy-user|\s--http-password|\s-a)[= ]["']?[^\s:"']+:([^\s"']{3,})"#,
    )
    .unless_placeholder(),
    rule("cookie", &["ookie"], r"(?i)\b(?:set-)?cookie:\s*[^=\s;]+=([^\s;]{12,})"),
    rule("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"], r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    rule("aws-secret-key", &["aws", "AWS", "ecret"], r#"(?i)(?:aws[_.-]?)?secret[_.-]?(?:access[_.-]?)?key["']?\s*[:=]+\s*["']?([A-Za-z0-9/+=]{40})\b"#),
    rule("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{20,}"),
    rule("github", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    rule("gitlab", &["gl"], r"\bgl(?:pat|ptt|dt|rt|soat|ft|agent|cbt|imt|oas|ffct)-[A-Za-z0-9_.-]{20,}"),
    rule("gitlab", &["GR1348941"], r"\bGR1348941[A-Za-z0-9_-]{20,}"),
    rule("slack", &["xox", "xapp-"], r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    rule("slack", &["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})"),
    rule("discord", &["discord"], r"discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{40,})"),
    rule("stripe", &["_live_", "_test_", "_prod_", "whsec_"], r"\b(?:(?:sk|rk|pk)_(?:live|test|prod)|whsec)_[A-Za-z0-9]{10,}"),
    rule("anthropic", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    rule("openai", &["sk-"], r"\bsk-(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,}"),
    rule("openai", &["sk-"], r"\bsk-[A-Za-z0-9]{20,}\b"),
    rule("google", &["AIza"], r"\bAIza[A-Za-z0-9_-]{30,}"),
    rule("google", &["ya29.", "GOCSPX-", "1//0"], r"\b(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})"),
    rule("npm", &["npm_"], r"\bnpm_[A-Za-z0-9]{30,}"),
    rule("npm", &["_authToken", "_auth", "_password"], r"_(?:authToken|auth|password)\s*=\s*([^\s$]{8,})"),
    rule("pypi", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{16,}"),
    rule("sendgrid", &["SG."], r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    rule("twilio", &["SK", "AC"], r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    rule("azure", &["AccountKey", "SharedAccess", "sig="], r"(?:AccountKey=|SharedAccessKey=|SharedAccessSignature=|[?&]sig=)([A-Za-z0-9+/%=_-]{20,})"),
    rule("azure", &["Q~"], r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    rule("signed-url", &["X-Amz-", "X-Goog-", "x-amz-"], r"(?i)x-(?:amz|goog)-(?:signature|security-token|credential)=([A-Za-z0-9%/+_.-]{16,})"),
    rule("hugging-face", &["hf_", "api_org_"], r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    rule("telegram", &[":AA"], r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    rule("digitalocean", &["do"], r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    rule("shopify", &["shp"], r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    rule("vault", &["hvs.", "hvb.", "hvr."], r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    rule("databricks", &["dapi"], r"\bdapi[a-f0-9]{32}(?:-[0-9])?\b"),
    rule("rubygems", &["rubygems_"], r"\brubygems_[a-f0-9]{48}\b"),
    rule("pulumi", &["pul-"], r"\bpul-[a-f0-9]{40}\b"),
    rule("brevo", &["xkeysib-", "xsmtpsib-"], r"\bx(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    rule("mailgun", &["key-", "pubkey-"], r"\b(?:pub)?key-[a-f0-9]{32}\b"),
    rule("mailchimp", &["-us"], r"\b[a-f0-9]{32}-us[0-9]{1,2}\b"),
    rule("postman", &["PMAK-"], r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    rule("square", &["sq0", "EAAA"], r"\b(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{56,})"),
    rule("docker", &["dckr_"], r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    rule("openshift", &["sha256~"], r"\bsha256~[A-Za-z0-9_-]{43}"),
    rule("terraform", &[".atlasv1."], r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    rule("atlassian", &["ATATT3", "ATCTT3", "ATBB"], r"\b(?:ATATT3|ATCTT3|ATBB)[A-Za-z0-9_=-]{20,}"),
    rule("facebook", &["EAA"], r"\bEAA[MC][A-Za-z0-9]{80,}"),
    rule("alibaba", &["LTAI"], r"\bLTAI[A-Za-z0-9]{16,24}\b"),
    rule("dynatrace", &["dt0c01."], r"\bdt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    rule("supabase", &["sbp_"], r"\bsbp_[a-f0-9]{40}\b"),
    rule("sentry", &["sntry"], r"\bsntry[us]_[A-Za-z0-9+/=_-]{20,}"),
    rule("airtable", &["pat"], r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    rule("facebook", &["EAACEdEose0cBA"], r"\bEAACEdEose0cBA[A-Za-z0-9]{10,}"),
    rule("mapbox", &["sk.eyJ"], r"\bsk\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    rule("crates-io", &["cio"], r"\bcio[A-Za-z0-9]{32}\b").if_mixed(),
    rule("discord", &["."], r"\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})").if_mixed(),
    rule("django", &["django-insecure-"], r#"django-insecure-([^\s"']{20,})"#),
    rule("app-key", &["KEY=base64:", "key: base64:"], r"(?i)key(?:=|: )base64:([A-Za-z0-9+/]{20,}={0,2})"),
    rule("client-key", &["client-key-data"], r#"client-key-data["']?:\s*["']?([A-Za-z0-9+/=]{16,})"#),
    rule("docker", &["\"auth\""], r#""auth"\s*:\s*"([A-Za-z0-9+/]{8,}={0,2})""#),
    rule("netrc", &["login"], r"\blogin\s+\S+\s+password\s+(\S{3,})").unless_placeholder(),
    rule("xml", &["<"], r"(?i)<(?:password|passwd|secret|token|api[_-]?key)>\s*([^<>\s]{3,})\s*</").unless_placeholder(),
    rule("sql", &["dentified", "DENTIFIED", "PASSWORD", "assword"], r"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?by|(?:with\s+)?(?:encrypted\s+)password)\s+'([^'\n]{3,})'").unless_placeholder(),
    rule("argument", &["mysql", "mariadb", "mysqldump"], r#"\b(?:mysql|mariadb)(?:dump|admin)?\s(?:[^\n|;&]*\s)?-p([^\s"'=;|&]{4,})"#).unless_placeholder(),
    rule("argument", &["login", "sshpass"], r#"\b(?:(?:docker|podman|buildah|helm registry|oras|az|skopeo)\s+login|sshpass)\s(?:[^\n|;&]*\s)?-p\s*["']?([^\s"'\[]{4,})"#).unless_placeholder(),
    rule("argument", &["redis-cli"], r#"\bredis-cli\s(?:[^\n|;&]*\s)?-a\s+["']?([^\s"'\[]{4,})"#).unless_placeholder(),
    rule("argument", &["pass:"], r#"-pass(?:in|out)?\s+["']?pass:([^\s"']{3,})"#).unless_placeholder(),
    rule("argument", &["secret set"], r#"\bsecret\s+set\s(?:[^\n|;&]*\s)?(?:--body|-b)[ =]["']?([^\s"'\[]{4,})"#).unless_placeholder(),
    rule("python-bytes", &["b'", "b\""], r#"(?i)(?:password|passwd|secret|token|key)\s*[:=]\s*b["']([^"'\n]{4,})["']"#).unless_placeholder(),
    // providers whose shape is a prefix and a body that nothing else would give away
    rule(
        "token",
        &["AKCp", "cmVmd", "ABSK", "EZAK", "EZTK", "AQVN", "eyJrIjoi", "ops_eyJ"],
        r"\b(?:(?:AKCp|cmVmd|EZ[AT]K|eyJrIjoi)[A-Za-z0-9]{50,}|ABSK[A-Za-z0-9+/]{100,}|AQVN[A-Za-z0-9_-]{35,38}|ops_eyJ[A-Za-z0-9+/]{100,})={0,3}",
    ),
    rule("token", &["live_", "test_"], r"\b(?:shippo_)?(?:live|test)_(?:pub_)?[a-f0-9]{31,40}\b"),
    rule("token", &["sgp_"], r"\bsgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}\b"),
    rule("token", &["squ_", "sqp_", "sqa_"], r"\bsq[upa]_[A-Za-z0-9]{40}\b"),
    rule("token", &["sm_aat_", "sm_pat_", "sm_sat_"], r"\bsm_[aps]at_[A-Za-z0-9]{16}\b"),
    rule("token", &["NRII-", "NRJS-", "NRAK-"], r"\bNR(?:II|JS|AK)-[A-Za-z0-9-]{19,}"),
    rule("token", &["FLWSECK", "FLWPUBK"], r"\bFLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    rule("token", &["dnkey-"], r"\bdnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{40,}"),
    rule("token", &["_mmk"], r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
    rule("token", &["pat.", "sat."], r"\b[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b"),
    rule("token", &["v1.0-"], r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    rule("token", &["s-s4t2"], r"\bs-s4t2(?:ud|af)-[a-fA-F0-9]{64}"),
    rule("token", &["A3-"], r"\bA3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}\b"),
    rule("token", &["IncomingWebhook/"], r"IncomingWebhook/([A-Za-z0-9]{20,}(?:/[A-Za-z0-9-]{20,})?)"),
    rule("cookie", &["_session=", "SESSID=", "SESSIONID=", "connect.sid="], r"\b(?:_gitlab_session|laravel_session|PHPSESSID|JSESSIONID|connect\.sid)=([A-Za-z0-9%._-]{12,})"),
    rule("xml", &["key="], r#"(?i)<add\s+key="(?:cleartext)?password"\s+value="([^"\n]{4,})""#).unless_placeholder(),
    rule("pg-password", &["PASSWORD=", "PASSWD=", "PWD=", "PASS="], r#"\b(?:[A-Z][A-Z0-9_]*_?)?(?:PASSWORD|PASSWD|PASS|PWD)=["']?([^\s"'/~.][^\s"']{2,})"#)
        .unless_placeholder(),
]
}

impl Rule {
    /// Both cases and a digit: neither a word nor a hash.
    const fn if_mixed(mut self) -> Self {
        self.holds = |value| {
            let any = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
            any(char::is_ascii_digit) && any(char::is_ascii_uppercase) && any(char::is_ascii_lowercase)
        };
        self
    }

    const fn unless_placeholder(mut self) -> Self {
        self.holds = |value| !super::generic::is_placeholder(value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for rule in RULES.iter() {
            Regex::new(rule.pattern).unwrap_or_else(|error| panic!("{}: {error}", rule.kind));
        }
    }
}

//! What must go, and what must stay.

use super::*;

fn redacted(text: &str) -> String {
    Redactor::new(Some("/home/ada")).text(text)
}

#[test]
fn escapes_and_hidden_characters_go_and_scripts_stay() {
    assert_eq!(clean("\u{1b}[31mred\u{1b}[0m \u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}"), "red link");
    assert_eq!(clean("10%\r50%\r100%\nnext\r\n"), "100%\nnext\n");
    assert_eq!(clean("a\u{202e}b\u{200b}c\u{feff}\0\u{7}"), "abc");
    let scripts = "汉字 العربية می‌خواهم 👨‍👩‍👧 é";
    assert_eq!(clean(scripts), scripts);
}

#[test]
fn a_hidden_character_does_not_hide_a_secret() {
    let text = format!("ghp_{}\u{200b}{}", "a1B2c3D4e5F6g7H8", "i9J0k1L2m3N4o5P6q7R8");
    assert_eq!(redacted(&text), "[redacted:github]");
}

#[test]
fn secrets_go() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    for secret in [
        format!("gho_{body}"),
        format!("glpat-{}", &body[..20]),
        format!("xoxb-123456789012-{}", &body[..24]),
        format!("sk_live_{}", &body[..24]),
        format!("sk-ant-api03-{body}"),
        format!("sk-proj-{body}"),
        format!("AIza{body}"),
        format!("npm_{body}"),
        format!("SG.{}.{body}", &body[..22]),
        format!("hvs.{}", &body[..24]),
        format!("lin_api_{body}"),
        format!("pscale_tkn_{body}"),
        "AKIAQYLPMN5HHHFPZAM2".to_owned(),
    ] {
        let out = redacted(&format!("using {secret} now"));
        assert!(!out.contains(body[..20].trim()) && !out.contains(&secret), "{secret}: {out}");
        assert!(out.contains("[redacted:") && out.ends_with(" now"), "{out}");
    }
    for (text, left) in [
        ("curl -H \"Authorization: Bearer abcdef0123456789abcdef\"", "Authorization: Bearer [redacted:"),
        (
            "git clone https://ada:s3cr3tpw@example.org/x.git",
            "https://ada:[redacted:url-credentials]@example.org",
        ),
        ("PGPASSWORD=hunter22 psql", "PGPASSWORD=[redacted:"),
        ("password: \"Tr0ub4dor&3\"", "password: \"[redacted:secret]\""),
        ("API_TOKEN=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c", "API_TOKEN=[redacted:secret]"),
        ("--api-key 0123abcd4567efgh8901", "--api-key [redacted:secret]"),
    ] {
        let out = redacted(text);
        assert!(out.contains(left), "{out}");
    }
    let pem = "x\n-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----\ny";
    assert_eq!(redacted(pem), "x\n[redacted:private-key]\ny");
}

#[test]
fn look_alikes_stay() {
    for text in [
        "commit 4f1c09aa4f1c09aa4f1c09aa4f1c09aa4f1c09aa",
        "550e8400-e29b-41d4-a716-446655440000",
        "sha512-9J2mDPtnSHjLYqMH8Jcqy3YhGAl3fCCmBVyRBsDQOtLx3zFl4Zz9sNqkHNV1LJ0mHkXnbnZtVXzuNXQHZLKxEw==",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "h1:pDDu1OyEDTKzpJwdq4TiuLyMsUgRa/BT5cn5O62NoHs=",
        "target/debug/deps/libserde_derive-0c1d2e3f4a5b6c7d.so",
        "dist/assets/index-BRtd8a3KxY9z01PqLmNoPqRs.js",
        "let token = self.next_token();",
        "password = os.environ[\"DB_PASSWORD\"]",
        "token: String,",
        "max_tokens=200000",
        "password=changeme",
        "api_key: <your api key here>",
        "SECRET=${SECRET}",
        "error: expected one of `!` or `::`, found token `}`",
        "test_parseHttp2HeadersWhenMissing1 ... ok",
        "tests/test_password_reset.py::test_token_expires PASSED",
        "checksum = \"a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1\"",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "https://example.org/a:b@c",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn twice_is_once_and_kinds_are_counted() {
    let mut counts = Counts::new();
    let once = Redactor::new(None).apply("password=Xy9!kkqW and AKIAQYLPMN5HHHFPZAM2", &mut counts);
    assert_eq!(counts.values().sum::<u64>(), 2, "{counts:?}");
    assert_eq!(redacted(&once), once);
}

#[test]
fn the_home_folder_is_shortened_and_only_it() {
    assert_eq!(redacted("/home/ada/x /home/adam/x /home/ada"), "~/x /home/adam/x ~");
    let inside = Redactor::new(Some("/home/ada")).relative_to("/home/ada/work/");
    assert_eq!(inside.text("cd /home/ada/work && cat /home/ada/work/a /home/ada/b"), "cd . && cat ./a ~/b");
}

#[test]
fn own_patterns_and_mail() {
    let redactor =
        Redactor::new(None).with_patterns(vec![Regex::new("ACME-([0-9]+)").unwrap()]).masking_mail(true);
    assert_eq!(redactor.text("ACME-12345 by ada@example.org"), "ACME-[redacted:custom] by [redacted:email]");
}

#[test]
fn cuts_keep_characters_words_and_lines() {
    assert_eq!(clip("short", 10), "short");
    assert_eq!(clip("several words in a row", 16), "several words…");
    assert_eq!(clip("漢字漢字漢字", 4), "漢字漢…");
    assert_eq!(tail_lines("a\nb\nc\n\n", 2, 100), "b\nc");
    assert_eq!(tail_lines("aaaa\nbbbb", 5, 6), "bbbb");
    assert_eq!(tail_lines("漢漢漢", 5, 7), "漢漢");
    assert_eq!(head_lines("a\nb\nc", 2), "a\nb");
}

#[test]
fn secrets_in_every_dress_go() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let hex = "0123456789abcdef".repeat(4);
    let word = "gLKOmxgJTeKdNnFRIBXu";
    for (text, secret) in [
        (format!("SECRET={word}"), word),
        (format!("TOKEN={word}"), word),
        (format!("token: {word}"), word),
        (format!("JWT_SECRET={word}"), word),
        (format!("SECRET_KEY={word}"), word),
        (format!("SECRET_KEY_BASE={word}"), word),
        (format!("{{\"secret\": \"{word}\"}}"), word),
        ("password=correct-horse-battery-staple".to_owned(), "horse"),
        ("password=Tr0ub;4dor&3x".to_owned(), "4dor"),
        ("password=Tr0$ub4(dor".to_owned(), "ub4"),
        ("password: \"Tr0\\ub4dor\"".to_owned(), "ub4dor"),
        ("PASS=gLKOmxgJTeKd".to_owned(), "gLKOmxgJTeKd"),
        ("<password>correcthorse</password>".to_owned(), "correcthorse"),
        ("CREATE USER a IDENTIFIED BY 'hunter22'".to_owned(), "hunter22"),
        ("password = b'hunter22x'".to_owned(), "hunter22x"),
        ("machine h login ada password hunter22".to_owned(), "hunter22"),
        ("https://user:p@Hx93kfw@host/x".to_owned(), "Hx93kfw"),
        ("\"auth\": \"YWRhOmh1bnRlcjIy\"".to_owned(), "YWRhOmh1bnRlcjIy"),
        (format!("client-key-data: LS0t{body}"), body),
        (format!("APP_KEY=base64:{body}="), body),
        ("django-insecure-x#k2!m)9d@p$w1qz&7c%".to_owned(), "x#k2!m)9d"),
        ("mysql -u root -phunter22 db".to_owned(), "hunter22"),
        ("docker login -u ada -p hunter22 example.org".to_owned(), "hunter22"),
        ("sshpass -p hunter22 ssh h".to_owned(), "hunter22"),
        ("redis-cli -h h -a hunter22 ping".to_owned(), "hunter22"),
        ("openssl rsa -in k -passin pass:hunter22".to_owned(), "hunter22"),
        ("gh secret set NAME --body hunter22".to_owned(), "hunter22"),
        (format!("sbp_{}", &hex[..40]), &hex[..40]),
        (format!("sntryu_{hex}"), hex.as_str()),
        (format!("pat{}.{hex}", &body[..14]), hex.as_str()),
        (format!("EAACEdEose0cBA{body}"), body),
        (format!("sk.eyJ{body}.{body}"), body),
        (format!("cio{}", &body[..32]), &body[..32]),
        (format!("MT{}.{}.{}", &body[..22], &body[..6], &body[..30]), &body[..22]),
        (format!("abc_ghp_{body}"), body),
        ("psql 'host=h password=agoivqwe'".to_owned(), "agoivqwe"),
        ("mount -o username=ada,password=agoivqwe //h/x".to_owned(), "agoivqwe"),
        (format!("{{\"msg\":\"\\nsk-ant-api03-{body}\\u001b[0m\"}}"), body),
        (format!("\\u001b[31mAKIA{}", "QYLPMN5HHHFPZAM2"), "QYLPMN5HHHFPZAM2"),
        (format!("\\tglpat-{}", &body[..20]), &body[..20]),
    ] {
        let out = redacted(&text);
        assert!(!out.contains(secret) && out.contains("[redacted:"), "{text}: {out}");
    }
}

#[test]
fn prose_and_code_around_the_new_shapes_stay() {
    for text in [
        "the token: parser rule",
        "token: CancellationToken",
        "secret: SecretManagerServiceClient",
        "secret = getApplicationSecretFromStore",
        "login as a user with password authentication",
        "docker login -u ada registry",
        "grep -p pattern file",
        "mysql --port 3306 db",
        "PASS: TestParse (0.00s)",
        "PWD=/home/bob/work",
        "<token>",
        "ciosomethinglowercaseonlyandlongenough",
        "https://example.org:8080/a@b",
        "export PASS=$PASS",
        "connect(user=user, password=credential)",
        "connect(password=passphrase)",
        "password=prompt",
        "C:\\new\\table\\results",
        "printf 'a\\nb\\tc\\033[0m'",
    ] {
        assert_eq!(redacted(text), text);
    }
}

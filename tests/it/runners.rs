//! Names and counts out of what test runners print. Which of the texts are captured and which are written after the
//! documentation stands in `tests/fixtures/runners/README.md`.

use std::path::{Path, PathBuf};

use endwell::evidence::runners::{Told, read};

/// File, counts of passed, failed and skipped tests, names of the failing ones.
type Case = (&'static str, [Option<u64>; 3], &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "cargo.txt",
        [Some(2), Some(5), Some(1)],
        &["outer", "src/lib.rs - one (line 1)", "tests::bad", "tests::must_panic", "tests::result"],
    ),
    (
        "cargo-q.txt",
        [Some(2), Some(5), Some(1)],
        &["outer", "src/lib.rs - one (line 1)", "tests::bad", "tests::must_panic", "tests::result"],
    ),
    ("cargo-abort.txt", [Some(0), Some(1), Some(0)], &["--test aborts"]),
    ("cargo-compile.txt", [None, None, None], &[]),
    (
        "nextest.txt",
        [Some(2), Some(4), Some(1)],
        &["sample tests::bad", "sample tests::must_panic", "sample tests::result", "sample::more outer"],
    ),
    ("nextest-abort.txt", [Some(0), Some(1), Some(0)], &["sample::aborts dies"]),
    ("pytest.txt", [Some(0), Some(1), Some(0)], &["col_test.py"]),
    (
        "pytest-q.txt",
        [Some(2), Some(4), Some(1)],
        &[
            "pt_test.py::TestC::test_in_class",
            "pt_test.py::test_pair[1-2]",
            "pt_test.py::test_pair[x y-z - w]",
            "pt_test.py::test_uses",
        ],
    ),
    (
        "pytest-v.txt",
        [Some(2), Some(4), Some(1)],
        &[
            "pt_test.py::TestC::test_in_class",
            "pt_test.py::test_pair[1-2]",
            "pt_test.py::test_pair[x y-z - w]",
            "pt_test.py::test_uses",
        ],
    ),
    ("pytest-qq.txt", [None, None, None], &["pt_test.py::test_pair[1-2]"]),
    ("pytest-rN.txt", [Some(2), Some(4), Some(1)], &[]),
    (
        "unittest.txt",
        [Some(2), Some(3), Some(1)],
        &["test_sample.Sums.test_bad", "test_sample.Sums.test_error", "test_sample.Sums.test_sub (i=1)"],
    ),
    (
        "unittest-verbose.txt",
        [Some(2), Some(3), Some(1)],
        &["test_sample.Sums.test_bad", "test_sample.Sums.test_error", "test_sample.Sums.test_sub (i=1)"],
    ),
    (
        "unittest-import.txt",
        [Some(2), Some(4), Some(1)],
        &[
            "test_broken",
            "test_sample.Sums.test_bad",
            "test_sample.Sums.test_error",
            "test_sample.Sums.test_sub (i=1)",
        ],
    ),
    (
        "go.txt",
        [None, Some(4), None],
        &[
            "example.test/sample.TestBad",
            "example.test/sample.TestTable/with_space",
            "example.test/sample/broken [build failed]",
            "example.test/sample/sub.TestPanics",
        ],
    ),
    (
        "go-v.txt",
        [Some(2), Some(4), Some(1)],
        &[
            "example.test/sample.TestBad",
            "example.test/sample.TestTable/with_space",
            "example.test/sample/broken [build failed]",
            "example.test/sample/sub.TestPanics",
        ],
    ),
    (
        "go-json.txt",
        [Some(2), Some(4), Some(1)],
        &[
            "example.test/sample.TestBad",
            "example.test/sample.TestTable/with_space",
            "example.test/sample/broken [build failed]",
            "example.test/sample/sub.TestPanics",
        ],
    ),
    (
        "jest.txt",
        [Some(1), Some(3), Some(2)],
        &[
            "j/broken.test.js",
            "j/sum.test.js › sum › is wrong",
            "j/sum.test.js › sum › nested › odd › throws",
        ],
    ),
    (
        "jest-verbose.txt",
        [Some(1), Some(3), Some(2)],
        &[
            "j/broken.test.js",
            "j/sum.test.js › sum › is wrong",
            "j/sum.test.js › sum › nested › odd › throws",
        ],
    ),
    (
        "vitest.txt",
        [Some(1), Some(3), Some(1)],
        &["v/broken.test.mjs", "v/sum.test.mjs > sum > is wrong", "v/sum.test.mjs > sum > nested > throws"],
    ),
    (
        "vitest-verbose.txt",
        [Some(1), Some(3), Some(1)],
        &["v/broken.test.mjs", "v/sum.test.mjs > sum > is wrong", "v/sum.test.mjs > sum > nested > throws"],
    ),
    (
        "mocha.txt",
        [Some(1), Some(3), Some(1)],
        &["sum > hooks > \"before all\" hook for \"never\"", "sum > is wrong", "sum > nested > throws"],
    ),
    (
        "mocha-dot.txt",
        [Some(1), Some(3), Some(1)],
        &["sum > hooks > \"before all\" hook for \"never\"", "sum > is wrong", "sum > nested > throws"],
    ),
    (
        "node-tap.txt",
        [Some(2), Some(4), Some(2)],
        &["is wrong", "n/broken.test.js", "suite > deep > bad # 1", "suite > throws"],
    ),
    (
        "node-spec.txt",
        [Some(2), Some(4), Some(2)],
        &["is wrong", "n/broken.test.js", "suite > deep > bad # 1", "suite > throws"],
    ),
    ("rspec.txt", [Some(1), Some(2), Some(1)], &["Sum is wrong", "Sum nested raises"]),
    ("rspec-doc.txt", [Some(1), Some(2), Some(1)], &["Sum is wrong", "Sum nested raises"]),
    (
        "minitest.txt",
        [Some(1), Some(3), Some(1)],
        &["SumTest#test_bad", "SumTest#test_error", "spec#test_0001_is wrong"],
    ),
    (
        "minitest-v.txt",
        [Some(1), Some(3), Some(1)],
        &["SumTest#test_bad", "SumTest#test_error", "spec#test_0001_is wrong"],
    ),
    (
        "phpunit.txt",
        [Some(2), Some(3), Some(1)],
        &["SumTest::testBad", "SumTest::testError", "SumTest::testRows with data set \"two\""],
    ),
    (
        "phpunit-testdox.txt",
        [Some(2), Some(3), Some(1)],
        &["Sum > Bad", "Sum > Error", "Sum > Rows with data set \"two\""],
    ),
    ("ctest.txt", [Some(1), Some(3), None], &["bad", "missing", "slow"]),
    ("tap.txt", [Some(1), Some(2), Some(2)], &["is wrong", "test 5"]),
    (
        "gradle.txt",
        [Some(2), Some(2), Some(1)],
        &["com.example.SumTest > bad", "com.example.SumTest > error"],
    ),
    ("green-gradle.txt", [None, None, None], &[]),
    (
        "documented-gradle.txt",
        [Some(3), Some(3), Some(1)],
        &[
            "com.example.SumTest > bad()",
            "com.example.SumTest > rows(int) > [2] 2",
            "com.example.SumTest$Inner > deep()",
        ],
    ),
    (
        "documented-dotnet.txt",
        [Some(3), Some(2), Some(1)],
        &["App.Tests.SumTests.Bad", "App.Tests.SumTests.Rows(a: 2, name: \"x [y]\")"],
    ),
    ("documented-swift.txt", [Some(2), Some(2), None], &["SumTests.testBad", "isWrong()"]),
    (
        "documented-surefire3.txt",
        [Some(2), Some(3), Some(1)],
        &["com.example.SumTest.bad", "com.example.SumTest.error", "com.example.SumTest.rows(int)[2]"],
    ),
    ("surefire.txt", [Some(1), Some(2), Some(1)], &["x.SumTest.bad", "x.SumTest.error"]),
    ("green-cargo.txt", [Some(3), Some(0), Some(0)], &[]),
    ("green-nextest.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-pytest.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-pytest-q.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-unittest.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-go.txt", [None, Some(0), None], &[]),
    ("green-go-v.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-go-json.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-jest.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-vitest.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-mocha.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-node-tap.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-node-spec.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-rspec.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-minitest.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-phpunit.txt", [Some(2), Some(0), Some(0)], &[]),
    ("green-ctest.txt", [Some(2), Some(0), None], &[]),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runners")
}

#[test]
fn every_runners_failing_tests_are_named_and_counted() {
    for (file, [passed, failed, skipped], names) in CASES {
        let text = std::fs::read_to_string(fixtures().join(file)).unwrap();
        let mut wanted = Told { passed: *passed, failed: *failed, skipped: *skipped, failing: Vec::new() };
        wanted.failing = names.iter().map(|name| (*name).to_owned()).collect();
        wanted.failing.sort();
        let mut told = read(&text, "", Path::new("/home/dev/project"));
        told.failing.sort();
        assert_eq!(told, wanted, "{file}");
        // which of the two streams a runner writes to does not matter, nor do the line ends
        let mut other = read("", &text.replace('\n', "\r\n"), Path::new("/home/dev/project"));
        other.failing.sort();
        assert_eq!(other, wanted, "{file} on standard error");
    }
}

#[test]
fn every_fixture_is_in_the_table() {
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || CASES.iter().any(|(file, ..)| *file == name), "{name}");
    }
}

#[test]
fn text_that_is_no_runners_output_tells_nothing() {
    for text in [
        "",
        "FAILED a::b - x\n",
        "not ok 1 - x\n",
        "FAIL: x (y)\nok\n",
        "\u{1b}[",
        "\u{1b}]8;;x",
        "--- FAIL: TestX (0.00s)\n",
    ] {
        assert_eq!(read(text, text, Path::new("/")), Told::default(), "{text:?}");
    }
}

//! Test reports in the `JUnit` XML form, where the project writes them: their names are surer than those out of a
//! runner's text. A report that can't be read to its end says nothing.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::runners::Told;

/// Where projects write them, from the top: files, and folders whose `.xml` files are meant.
pub const PLACES: [&str; 12] = [
    "build/test-results",
    "build/test-results/test",
    "junit.xml",
    "report.xml",
    "reports",
    "reports/junit.xml",
    "target/nextest/ci/junit.xml",
    "target/nextest/default/junit.xml",
    "target/surefire-reports",
    "test-reports",
    "test-results",
    "test-results/junit.xml",
];

/// What the reports of one run tell; nothing where there is none, or where one of them is broken.
pub fn read(texts: &[String]) -> Option<Told> {
    let mut told = Told { passed: Some(0), failed: Some(0), skipped: Some(0), failing: Vec::new() };
    let mut any = false;
    for text in texts {
        any |= read_one(text, &mut told)?;
    }
    told.failing.sort();
    told.failing.dedup();
    any.then_some(told)
}

/// One test case while it is read.
#[derive(Default)]
struct Case {
    name: String,
    failed: bool,
    skipped: bool,
}

/// Whether it held test cases.
fn read_one(text: &str, told: &mut Told) -> Option<bool> {
    let mut reader = Reader::from_str(text);
    let mut case: Option<Case> = None;
    let (mut any, mut depth) = (false, 0_u32);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) if element.local_name().as_ref() == "testcase" => {
                case = Some(Case { name: name(&element)?, ..Case::default() });
                depth += 1;
            }
            Event::Empty(element) if element.local_name().as_ref() == "testcase" => {
                any = true;
                count(&Case { name: name(&element)?, ..Case::default() }, told);
            }
            Event::Start(element) => {
                depth += 1;
                mark(&element, &mut case);
            }
            Event::Empty(element) => mark(&element, &mut case),
            Event::End(element) => {
                depth = depth.checked_sub(1)?;
                if element.local_name().as_ref() == "testcase"
                    && let Some(case) = case.take()
                {
                    any = true;
                    count(&case, told);
                }
            }
            // a report that breaks off is none
            Event::Eof => return (depth == 0).then_some(any),
            _ => {}
        }
    }
}

fn mark(element: &BytesStart<'_>, case: &mut Option<Case>) {
    let Some(case) = case else { return };
    match element.local_name().as_ref() {
        "failure" | "error" => case.failed = true,
        "skipped" => case.skipped = true,
        _ => {}
    }
}

fn count(case: &Case, told: &mut Told) {
    let add = |count: &mut Option<u64>| *count = count.map(|count| count + 1);
    if case.failed {
        add(&mut told.failed);
        told.failing.push(case.name.clone());
    } else if case.skipped {
        add(&mut told.skipped);
    } else {
        add(&mut told.passed);
    }
}

/// `classname.name`, without the class where the name holds it already.
fn name(element: &BytesStart<'_>) -> Option<String> {
    let attribute = |key: &str| -> Option<String> {
        let found = element.try_get_attribute(key).ok()??;
        Some(quick_xml::escape::unescape(&found.value).ok()?.into_owned())
    };
    let name = attribute("name")?;
    Some(match attribute("classname").filter(|class| !class.is_empty()) {
        Some(class) if !name.starts_with(&class) => format!("{class}.{name}"),
        _ => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0"?><testsuites><testsuite name="s" tests="4">
        <testcase classname="x.Sum" name="good" time="0.1"/>
        <testcase classname="x.Sum" name="bad &lt;1&gt;"><failure message="m">1 != 2</failure></testcase>
        <testcase classname="x.Sum" name="x.Sum.error"><error/><system-out><![CDATA[<testcase name="no"/>]]></system-out></testcase>
        <testcase name="later"><skipped/></testcase></testsuite></testsuites>"#;

    #[test]
    fn cases_are_counted_and_named() {
        let told = read(&[REPORT.to_owned()]).unwrap();
        assert_eq!((told.passed, told.failed, told.skipped), (Some(1), Some(2), Some(1)));
        assert_eq!(told.failing, ["x.Sum.bad <1>", "x.Sum.error"]);
    }

    #[test]
    fn a_broken_or_empty_report_says_nothing() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&["<coverage/>".to_owned()]), None);
        assert_eq!(read(&[REPORT[..REPORT.len() - 30].to_owned()]), None);
        assert_eq!(read(&[REPORT.to_owned(), "<testsuite><testcase name='a'>".to_owned()]), None);
    }
}

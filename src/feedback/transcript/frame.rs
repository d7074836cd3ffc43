//! The frame that Gemini and Qwen put around a command's output: the lines behind it. What the output itself holds is
//! never read.

use super::Call;

const KEYS: [&str; 5] = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

/// Ends a call with what its frame says. `silent_zero`: a frame without a code, a signal and an error stands for 0.
pub(super) fn end(call: &mut Call, frame: &str, silent_zero: bool) {
    let lines: Vec<&str> = frame.lines().filter(|line| !line.ends_with("untrusted_context>")).collect();
    let is_frame = |line: &&&str| KEYS.iter().any(|key| line.starts_with(key));
    let behind = lines.iter().rev().take_while(is_frame).count();
    let (output, tail) = lines.split_at(lines.len() - behind);
    let value = |key: &str| {
        let found = tail.iter().rev().find_map(|line| line.strip_prefix(key)).map(str::trim);
        found.filter(|text| *text != "(none)")
    };
    let text = output.join("\n");
    // the lines before it repeat the call
    let stdout = match text.split_once("Output: ") {
        Some((before, output)) if before.is_empty() || before.ends_with('\n') => output,
        _ => text.as_str(),
    };
    call.add_output(if stdout == "(empty)" { "" } else { stdout });
    let code = value("Exit Code: ").and_then(|digits| digits.parse().ok());
    match (code, value("Signal: "), value("Error: ")) {
        (_, Some(signal), _) if signal != "0" => call.ended(&format!("signal {signal}")),
        (Some(code), ..) => call.exited(code),
        (None, _, None) if silent_zero => call.exited(0),
        _ => call.ended("exit-unknown"),
    }
}

//! Parse, call, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    endwell::cli::main().into()
}

//! `completions` and `man`: what shells and readers of manuals need, from the command line's own description.

use crate::cli::{Completions, Man};
use crate::error::HarnessError;
use clap::Command;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Streams;

/// Prints the completions of a shell.
pub fn completions(args: &Completions, mut command: Command, streams: &Streams) -> End {
    let mut script = Vec::new();
    let name = command.get_name().to_string();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    streams.out.line(String::from_utf8_lossy(&script));
    End::Complete
}

/// Prints the program's manual page, or writes one for each command.
///
/// # Errors
/// A folder that cannot be written.
pub fn man(args: &Man, mut command: Command, streams: &Streams) -> Result<End, HarnessError> {
    // Names such as `helmholtz-reproduce` come with the build.
    command.build();
    let Some(folder) = &args.to else {
        streams.out.line(page(&command));
        return Ok(End::Complete);
    };
    let file = |command: &Command| {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let name = format!("{name}.1");
        helmholtz_report::files::write_text(folder, &name, &page(command))
    };
    file(&command)?;
    let written = command
        .get_subcommands()
        .filter(|of| of.get_name() != "help");
    for command in written {
        file(command)?;
    }
    streams.out.line(format!("Written to {}", folder.display()));
    Ok(End::Complete)
}

/// A page, as `man` reads it.
fn page(command: &Command) -> String {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(command.clone()).render(&mut page);
    written.expect("memory takes any text");
    String::from_utf8_lossy(&page).into_owned()
}

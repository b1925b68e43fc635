//! What a user types.

use crate::device::Device;
use crate::names::parse_seeds;
use clap::{Args, Parser, Subcommand};
use helmholtz_datasets::DatasetName;
use std::path::PathBuf;

/// Learning in models whose latent variables cannot be reparameterised: published experiments, reproduced.
#[derive(Debug, Parser)]
#[command(name = "helmholtz", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reproduce a published table or figure: plan, run, resume, compare
    Reproduce(Reproduce),
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask reproduce table1                        the quick profile, in minutes
  cargo xtask reproduce table1 --profile paper        the paper's protocol: days; Ctrl-C is safe
  cargo xtask reproduce table1 --profile paper --dry-run
                                                      what is done already, and what it would take
  cargo xtask reproduce table1 --net linear --method jsa,rloo --seeds 1-3 --epochs 100
  cargo xtask reproduce table1 --dataset glyphs       generated images: needs no data
  cargo xtask reproduce table1 --device cuda --jobs 8
  cargo xtask reproduce my-table.toml                 an edited copy of experiments/table1.toml
  cargo xtask reproduce arm-toy                       the toy experiment of ARM, with its figures, in seconds

Methods of table1: jsa, jsa-mtmis, jsa-frozen-reference, msc, ws, rws, rws-sleep, rws-wake-sleep, reinforce,
                   reinforce-centred, nvil, rloo, vimco, vimco-arithmetic, muprop, arm, disarm, arms, rebar,
                   rebar-tied, relax, relax-tied, relax-all, gumbel-softmax, st-gumbel-softmax, straight-through,
                   slope-annealed, half
Nets of table1:    linear, nonlinear, two-layers

arm-toy takes --seed, --out, --dry-run, --json and --fresh.

The same command resumes what was stopped, and does nothing again that is done.
Data are looked for in --data-dir, HELMHOLTZ_DATA and the user's cache folder, else downloaded.";

/// Reproduce a published table or figure.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct Reproduce {
    /// The experiment: `table1`, `arm-toy`, or the path of a TOML file like those in experiments/
    pub experiment: String,

    /// The scale: `quick` (minutes) or `paper` (the published protocol)
    #[arg(long, default_value = "quick")]
    pub profile: String,

    /// Methods, separated by commas, instead of the profile's
    #[arg(
        long = "method",
        alias = "methods",
        value_name = "METHOD",
        value_delimiter = ','
    )]
    pub methods: Vec<String>,

    /// Nets, separated by commas, instead of the profile's
    #[arg(
        long = "net",
        alias = "nets",
        value_name = "NET",
        value_delimiter = ','
    )]
    pub nets: Vec<String>,

    /// Seeds instead of the profile's: 1 or 1,2 or 1-5
    #[arg(long = "seeds", visible_alias = "seed", value_name = "SEEDS", value_parser = parse_seeds)]
    pub seeds: Option<::std::vec::Vec<u64>>,

    /// Epochs instead of the profile's (such runs have folders of their own)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub epochs: Option<u64>,

    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: Device,

    /// The folder in which data files are looked for first
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// The data set instead of the experiment's: binarized-mnist, threshold-mnist or glyphs
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<DatasetName>,

    /// Runs at once, each on one thread [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub jobs: Option<u64>,

    /// The folder of run folders and tables
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub out: PathBuf,

    /// Plan only: load the data, measure, say what would run and how long; train nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Machine-readable lines on standard output (plan, progress, table): one JSON object each
    #[arg(long)]
    pub json: bool,

    /// Start the selected runs over; their old folders are kept aside
    #[arg(long)]
    pub fresh: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn reproduce(args: &[&str]) -> Result<Reproduce, clap::Error> {
        let cli = Cli::try_parse_from(["helmholtz", "reproduce", "table1"].iter().chain(args))?;
        let Command::Reproduce(args) = cli.command;
        Ok(args)
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn lists_come_by_comma_by_repetition_and_by_range() {
        let args = reproduce(&[
            "--method", "jsa,rws", "--method", "rloo", "--seed", "1-3", "--net", "linear",
        ])
        .unwrap();
        assert_eq!(args.methods, ["jsa", "rws", "rloo"]);
        assert_eq!(
            (args.seeds, args.nets),
            (Some(vec![1, 2, 3]), vec!["linear".to_string()])
        );
    }

    #[test]
    fn bare_is_quick_on_the_cpu_into_runs() {
        let args = reproduce(&[]).unwrap();
        assert_eq!((args.profile.as_str(), args.device), ("quick", Device::Cpu));
        assert_eq!((args.out, args.dataset), (PathBuf::from("runs"), None));
    }

    #[test]
    fn the_help_names_every_method_and_net_of_table1() {
        let spec = crate::spec::tests::table1();
        for name in spec
            .method
            .iter()
            .map(|m| &m.name)
            .chain(spec.net.iter().map(|n| &n.name))
        {
            assert!(EXAMPLES.contains(name.as_str()), "{name}");
        }
    }

    #[test]
    fn bad_values_are_answered_with_what_would_be_good() {
        let error = |args: &[&str]| reproduce(args).unwrap_err().to_string();
        assert!(error(&["--device", "gpu"]).contains("[possible values: cpu, wgpu, cuda]"));
        assert!(error(&["--dataset", "mnist"]).contains("`glyphs`"));
        assert!(error(&["--seeds", "x"]).contains("write seeds as"));
        assert!(error(&["--epochs", "0"]).contains("1.."));
        assert!(error(&["--methd", "jsa"]).contains("--method"));
    }
}

//! Command line of the program.

pub mod cluster;

use self::cluster::Cluster;
use crate::data::Wanted;
use crate::device::Device;
use crate::error::HarnessError;
use crate::names::parse_seeds;
use crate::registry::Registry;
use crate::source::Source;
use crate::started;
use clap::builder::TypedValueParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use helmholtz_datasets::DatasetName;
use helmholtz_harness::engine::options::numbers;
use std::path::{Path, PathBuf};

/// Learning in models whose latent variables cannot be reparameterised: published experiments, reproduced.
#[derive(Debug, Parser)]
#[command(name = "helmholtz", arg_required_else_help = true)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reproduce a published table or figure: plan, run, resume, compare
    Reproduce(Reproduce),
    /// Show which runs of an experiment are done, running, waiting and failed, from their folders alone
    #[command(after_help = STATUS_EXAMPLES)]
    Status(Reproduce),
    /// Evaluate a run's parameters again: its test NLL with any number of samples
    Evaluate(Evaluate),
    /// Measure how noisy the methods' gradients are, for what they cost
    Variance(Variance),
    /// Hold what estimators claim of themselves against enumeration
    #[cfg(feature = "cpu")]
    Certify(Certify),
    /// Put every recorded result into one report: tables, figures, pictures
    Report(Report),
    /// Every published number beside ours: seeds, epochs, difference, and one word
    Scoreboard(Scoreboard),
    /// Print the completions of a shell, to be put where it looks for them
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Print the manual page, or write one for each command
    #[command(after_help = MAN_EXAMPLES)]
    Man(Man),
}

impl Command {
    /// The folder in which it is to look for data first.
    pub fn data_dir(&self) -> Option<&Path> {
        let given = match self {
            Self::Reproduce(args) | Self::Status(args) => &args.data_dir,
            Self::Evaluate(args) => &args.data_dir,
            Self::Variance(args) => &args.data_dir,
            Self::Report(args) => &args.data_dir,
            _ => &None,
        };
        given.as_deref()
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask reproduce table1                        the quick profile, in minutes
  cargo xtask reproduce table1 --profile paper        the paper's protocol: days; Ctrl-C is safe
  cargo xtask reproduce table1 --profile paper --dry-run
                                                      what is done already, and what it would take
  cargo xtask reproduce table1 --net linear --method jsa,rloo --seeds 1-3 --epochs 100
  cargo xtask reproduce table1 --dataset glyphs       generated images: needs no data
  cargo xtask reproduce table1 --dataset mine.npz --split 0.8,0.1,0.1
                                                      your own data, from a file
  cargo xtask reproduce table1 --device cuda --jobs 8
  cargo xtask reproduce table1 --profile paper --on slurm --partition short --time 4:00:00
                                                      as a job array of a cluster; `status` tells how far it is
  cargo xtask reproduce my-table.toml                 an edited copy of experiments/table1.toml
  cargo xtask reproduce table2                        categorical autoencoders
  cargo xtask reproduce table3 --particles 5,20       the lower half of a digit given the upper one, for two K
  cargo xtask reproduce table1 --profile yin-zhou     its quoted rows as their source trains them
  cargo xtask reproduce helmholtz                     Helmholtz machines by damped momentum; --profile quick-adam by Adam
  cargo xtask reproduce showdown --net two-layers     every estimator at equal evaluations of f
  cargo xtask reproduce estimators                    every estimator for twenty epochs (hours)
  cargo xtask reproduce arm-table2                    the nets of the ARM slides; --profile quick-omniglot on OMNIGLOT
  cargo xtask reproduce arm-table2 --profile quick-grey
                                                      REBAR and RELAX on grey images, as published ones seem to be
  cargo xtask reproduce arm-table3                    their prediction of lower halves, without an inference net
  cargo xtask reproduce arm-fig2                      -ELBO against iterations and time, from the runs of arm-table2
  cargo xtask reproduce arm-toy                       the toy experiment of ARM, with its figures, in a minute
  cargo xtask reproduce apg-gmm --steps 25000         amortized population Gibbs on Gaussian mixtures
  cargo xtask reproduce apg-dmm --steps 30000         the same on deep mixtures of rings
  cargo xtask reproduce apg-bmnist --steps 20000      the same on bouncing digits
  cargo xtask reproduce apg-kl --profile cpu          how the mixtures' proposals learn, for three K and L
  cargo xtask reproduce apg-table1 --profile cpu      what every sampler reaches on the three models, side by side
  cargo xtask reproduce fig1 --profile paper          NLL during training, from the runs of table1; fig2, fig4, fig-poster,
                                                      fig-table3, fig-disarm, fig-rodeo from those of their tables
  cargo xtask reproduce fig3                          gradient variance during training: makes its own runs

Nets of table1:    linear, nonlinear, two-layers
Nets of table2:    categorical
Nets of table3:    structured
Nets of arm-table2: linear, nonlinear, two-layers, categorical
Nets of arm-table3: feedforward, feedforward-linear
Nets of rodeo:     nonlinear, gaussian-linear, gaussian-nonlinear
Nets of counts:    poisson-200, binomial-16, binomial-128
Nets of helmholtz: sbn-200, sbn-200-200, sbn-200-200-200, sbn-200-10c, sbn-200-200-10c, sbn-200-200-200-10c

All take --seeds, --jobs, --out, --dry-run, --json and --fresh, but for figures, which train nothing; flags that mean nothing to an
experiment are refused with those that do.

The same command resumes what was stopped, and does nothing again that is done.
Data are looked for in --data-dir, HELMHOLTZ_DATA and the user's cache folder, else downloaded.";

/// The command line, whose help names what the registry knows.
pub(crate) fn command(registry: &Registry) -> clap::Command {
    let help = after_help(registry);
    let command = Cli::command().mut_subcommand("reproduce", |it| it.after_help(help));
    let as_started = |command: clap::Command| match command.get_after_help() {
        Some(help) => {
            let help = started::as_started(&help.to_string()).into_owned();
            command.after_help(help)
        }
        None => command,
    };
    command
        .mut_subcommands(as_started)
        .version(started::version())
}

/// The estimators, what a program has added, then examples.
fn after_help(registry: &Registry) -> String {
    let entries = registry.methods().iter();
    let width = entries.clone().map(|e| e.name.len()).max().unwrap_or(0);
    let lines = entries.map(|e| format!("  {:width$}  {}\n", e.name, e.idea));
    let nets: Vec<&str> = registry.added_nets().map(|(name, _)| name).collect();
    let data: Vec<&str> = registry.data_names().collect();
    let added = [("Nets", nets), ("Data", data)].into_iter();
    let added = added.filter(|(_, names)| !names.is_empty());
    let added =
        added.map(|(what, names)| format!("{what} of this program: {}\n", names.join(", ")));
    let (lines, added): (String, String) = (lines.collect(), added.collect());
    let experiments = Source::bundled().collect::<Vec<_>>().join(", ");
    let experiments = textwrap::fill(&experiments, 120);
    format!("Experiments:\n{experiments}\n\nMethods:\n{lines}\n{added}{EXAMPLES}")
}

/// Reproduce a published table or figure.
#[derive(Debug, Clone, Args)]
pub struct Reproduce {
    /// The experiment, by its name, of which the end of this help has a list, or by the path of a TOML file like those in experiments/
    pub experiment: String,

    /// The scale: `quick` (minutes), `paper` (the published protocol), or another of the experiment's file
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

    /// Numbers of particles K instead of the profile's, separated by commas, where the experiment compares some
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = at_least(1))]
    pub particles: Vec<usize>,

    /// Seeds instead of the profile's: 1 or 1,2 or 1-5
    #[arg(long = "seeds", visible_alias = "seed", value_name = "SEEDS", value_parser = parse_seeds)]
    pub seeds: Option<::std::vec::Vec<u64>>,

    /// Epochs instead of the profile's (such runs have folders of their own)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub epochs: Option<u64>,

    /// Gradient steps instead of the profile's, of experiments without epochs (such runs have folders of their own)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,

    /// Device to compute on
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: Device,

    /// The folder in which data files are looked for first
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// The data instead of the experiment's or the run's
    #[command(flatten)]
    pub data: DataArgs,

    /// Runs at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub jobs: Option<u64>,

    /// Threads of each run; results do not depend on them [default: the cores that are left by the runs at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,

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

    /// Options for runs on a cluster
    #[command(flatten)]
    pub cluster: Cluster,
}

impl Reproduce {
    /// Refuses the first of these flags that is given: it means nothing to the experiment.
    ///
    /// # Errors
    /// [`HarnessError::Flag`] with the remedy.
    pub fn reject(
        &self,
        experiment: &str,
        flags: &[(&'static str, bool)],
        remedy: &str,
    ) -> Result<(), HarnessError> {
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(HarnessError::Flag {
                experiment: experiment.into(),
                flag,
                remedy: remedy.into(),
            }),
            None => Ok(()),
        }
    }
}

const STATUS_EXAMPLES: &str = "\
Examples:
  cargo xtask status table1 --profile paper           every run of the table
  cargo xtask status table1 --profile paper --net linear --json

It takes the options of `reproduce` that select runs, and asks no scheduler. A run whose machine died counts as running until its lock has not
been renewed for ten minutes.";

const VARIANCE_EXAMPLES: &str = "\
Examples:
  cargo xtask variance                                three methods, at fresh parameters
  cargo xtask variance --method all --replicates 100 --dataset glyphs
  cargo xtask variance --run runs/table1/quick/binarized-mnist/linear/jsa/seed-1 --method jsa,rws,rloo
                                                      at the parameters, and with the chains, of a run
  cargo xtask variance --stage 2 --method jsa,msc --out variance

One gradient estimate of each method is repeated with fresh noise, at the same parameters and on the first images of the
training set. V is the sample variance of each parameter's gradient, summed over the generative parameters
(theta) and over those of the inference model (phi). The table is sorted by V x seconds, what a unit of precision costs.
Ctrl-C ends it with what is there.";

/// Measure how noisy the methods' gradients are, for what they cost.
#[derive(Debug, Clone, Args)]
#[command(after_help = VARIANCE_EXAMPLES)]
pub struct Variance {
    /// Methods, separated by commas, or `all` [default: the run's, or jsa,rws,rloo]
    #[arg(
        long = "method",
        alias = "methods",
        value_name = "METHOD",
        value_delimiter = ','
    )]
    pub methods: Vec<String>,

    /// The net: one of the tables' nets, such as linear, two-layers, categorical, structured or feedforward
    #[arg(long, value_name = "NET", default_value = "linear")]
    pub net: String,

    /// Particles K for each image [default: the run's, or 2]
    #[arg(long, value_name = "K", value_parser = numbers(1..=1 << 16))]
    pub particles: Option<usize>,

    /// Number of estimates of each method
    #[arg(long, value_name = "R", default_value = "1000", value_parser = at_least(3))]
    pub replicates: usize,

    /// Images of the mini-batch, the first of the training set
    #[arg(long, value_name = "N", default_value = "200", value_parser = at_least(1))]
    pub batch: usize,

    /// The stage of the methods that keep a chain an image: 1 without, 2 with them [default: the run's, or 1]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub stage: Option<u8>,

    /// Names the draws, and the fresh parameters
    #[arg(long, value_name = "SEED", default_value = "1")]
    pub seed: u64,

    /// A run folder: measure at its last parameters instead of fresh ones, on its net and data
    #[arg(long, value_name = "FOLDER", conflicts_with = "net")]
    pub run: Option<PathBuf>,

    /// Measure at the run's selected parameters; its chains stay the last
    #[arg(long, requires = "run")]
    pub selected: bool,

    /// Device to compute on
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: Device,

    /// The folder in which data files are looked for first
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// The data instead of the experiment's or the run's
    #[command(flatten)]
    pub data: DataArgs,

    /// The folder for variance.md and variance.csv; without it nothing is written. Rows are kept in it, so that the same command goes on after a
    /// stop
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Machine-readable lines on standard output (rows, table): one JSON object each
    #[arg(long)]
    pub json: bool,
}

/// Hold what estimators claim of themselves against enumeration.
#[derive(Debug, Clone, Args)]
pub struct Certify {
    /// Methods, separated by commas, or `all` [default: those that this program has added]
    #[arg(
        long = "method",
        alias = "methods",
        value_name = "METHOD",
        value_delimiter = ','
    )]
    pub methods: Vec<String>,

    /// Machine-readable lines on standard output: one JSON object each
    #[arg(long)]
    pub json: bool,
}

const EVALUATE_EXAMPLES: &str = "\
Examples:
  cargo xtask evaluate runs/table1/quick/binarized-mnist/linear/jsa/seed-1
  cargo xtask evaluate runs/helmholtz/quick/binarized-mnist/sbn-200/jsa/seed-1 --samples 1,5,10,100,1000,100000
  cargo xtask evaluate FOLDER --last --images 1000
  cargo xtask evaluate FOLDER --images 1000 --tempered 10,100
                                                      an estimate that converges sooner, and a bracket around it

The estimate of -log p(x) is too high by more, the fewer the samples and the wider q: methods are to be compared where more samples no
longer change it. With the run's `final_samples`, its seed and all images it is the run's own last number; a subset of images is another
than that of its checks. All numbers of samples cost one pass of the largest; Ctrl-C before its end leaves no
rows and writes nothing, and one in the parts after it keeps them. With `--out` each image's estimate is kept too, in
log-likelihoods.bin. A run with `released_nll`, such as ST Gumbel-softmax of table 2, gets its number by the released code's formula beside
it, in a further pass. The run folder is only read.";

/// Evaluate a run's parameters again.
#[derive(Debug, Clone, Args)]
#[command(after_help = EVALUATE_EXAMPLES)]
pub struct Evaluate {
    /// The run folder
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,

    /// Importance samples S for each image, separated by commas: a row each
    #[arg(long, value_name = "S", value_delimiter = ',', default_value = "1000", value_parser = at_least(1))]
    pub samples: Vec<usize>,

    /// Tempered sequential Monte Carlo too: L particles and T steps from q to p, such as 10,100. Also both bounds on ln p(x) of as many
    /// data drawn from the model
    #[arg(long, value_name = "L,T", value_delimiter = ',', num_args = 1, value_parser = at_least(1))]
    pub tempered: Vec<usize>,

    /// Test images, a random subset named by the seed [default: all]
    #[arg(long, value_name = "N", value_parser = at_least(1))]
    pub images: Option<usize>,

    /// Names the draws [default: the run's seed]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Evaluate the run's last parameters instead of the selected ones
    #[arg(long)]
    pub last: bool,

    /// Device to compute on
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: Device,

    /// The folder in which data files are looked for first
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// The data instead of the experiment's or the run's
    #[command(flatten)]
    pub data: DataArgs,

    /// The folder for evaluation.md and log-likelihoods.bin; without it nothing is written. What is done is kept in it, so that the same command
    /// goes on after a stop
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Machine-readable lines on standard output (rows, table): one JSON object each
    #[arg(long)]
    pub json: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  cargo xtask report                                  what is recorded in experiments/results, into the folder report
  cargo xtask report --out runs                       and one's own runs, with pictures from their checkpoints
  cargo xtask report --out runs --out old --to all    of two folders of runs
  cargo xtask report --run runs/table1/paper/binarized-mnist/linear/jsa/seed-1 --watch
                                                      a page of one run, written again every 30 seconds while it trains

report.html is one page that needs nothing else: open it in a browser, or send it. report.md and report.tex have the same
tables. tables/*.csv have every digit, figures/*.svg the figures with their data beside them, images/*.png the pictures.
Run folders are only read: runs may be going on.";

/// Put every recorded result into one report.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// A further folder of runs, such as that of `reproduce --out`; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub out: Vec<PathBuf>,

    /// The folder of recorded results; passed over if it is not there and `--out` is given
    #[arg(long, value_name = "FOLDER", default_value = "experiments/results")]
    pub results: PathBuf,

    /// One run folder alone, such as that of a run that is training
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "results"])]
    pub run: Option<PathBuf>,

    /// The folder for the report
    #[arg(long, value_name = "FOLDER", default_value = "report")]
    pub to: PathBuf,

    /// Write the report again every so many seconds, until all runs are finished or Ctrl-C; the page reloads itself
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "30",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub watch: Option<u64>,

    /// The folder in which data files are looked for first, for reconstructions of test images; nothing is downloaded
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
}

/// Every published number beside ours.
#[derive(Debug, Clone, Args)]
pub struct Scoreboard {
    /// The folder of recorded results
    #[arg(long, value_name = "FOLDER", default_value = "experiments/results")]
    pub results: PathBuf,

    /// A further folder of runs, such as that of `reproduce --out`; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub out: Vec<PathBuf>,

    /// The folder for scoreboard.md; without it nothing is written
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,

    /// One line of JSON on standard output
    #[arg(long)]
    pub json: bool,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  helmholtz completions bash > ~/.local/share/bash-completion/completions/helmholtz
  helmholtz completions zsh > ~/.zfunc/_helmholtz     with ~/.zfunc in fpath
  helmholtz completions fish > ~/.config/fish/completions/helmholtz.fish";

/// Print the completions of a shell.
#[derive(Debug, Clone, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  helmholtz man | man -l -                            the page of the program
  helmholtz man --to ~/.local/share/man/man1          helmholtz.1, helmholtz-reproduce.1 and so on: `man helmholtz-reproduce`";

/// Print the manual page.
#[derive(Debug, Clone, Args)]
pub struct Man {
    /// The folder for a page of each command; without it the program's page is printed
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
}

/// Help text of `--dataset`.
fn dataset_help() -> String {
    format!(
        "The data set instead of the experiment's or the run's. Names: {}. A file of your own: .npy, .npz, .amat, .idx, .mat, .parquet. \
         Or three files with commas between them",
        DatasetName::ALL.map(DatasetName::as_str).join(", ")
    )
}

/// Data that are chosen by hand.
#[derive(Debug, Clone, Default, Args)]
pub struct DataArgs {
    /// The data set instead of the experiment's or the run's
    #[arg(long, value_name = "NAME|FILE", help = dataset_help())]
    pub dataset: Option<Wanted>,

    /// Division of one file of your own into training, validation and test data [default: 0.8,0.1,0.1]
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    pub split: Option<Vec<f64>>,

    /// Names the division of one file of your own [default: 1]
    #[arg(long, value_name = "SEED")]
    pub split_seed: Option<u64>,
}

impl DataArgs {
    /// The data asked for, divided as asked.
    ///
    /// # Errors
    /// A division of what is not one file.
    pub fn wanted(&self) -> Result<Option<Wanted>, HarnessError> {
        let (shares, seed) = (self.split.as_deref(), self.split_seed);
        match self.dataset.clone() {
            Some(wanted) => wanted.divided(shares, seed).map(Some),
            None if shares.is_some() || seed.is_some() => Err(HarnessError::Unusable(
                "`--split` and `--split-seed` divide one file: name it with `--dataset FILE`"
                    .into(),
            )),
            None => Ok(None),
        }
    }
}

fn at_least(least: u64) -> impl TypedValueParser<Value = usize> {
    numbers(least..=1 << 32)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The arguments of `reproduce <args>`.
    pub(crate) fn parsed(args: &[&str]) -> Result<Reproduce, clap::Error> {
        let cli = Cli::try_parse_from(["helmholtz", "reproduce"].iter().chain(args))?;
        match cli.command {
            Command::Reproduce(args) => Ok(args),
            other => unreachable!("{other:?}"),
        }
    }

    fn reproduce(args: &[&str]) -> Result<Reproduce, clap::Error> {
        parsed(&[&["table1"], args].concat())
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
        assert_eq!((args.out, args.data.dataset), (PathBuf::from("runs"), None));
    }

    #[test]
    fn the_help_names_every_method_and_net() {
        let registry = crate::registry::Registry::default();
        let methods = registry.methods().iter().map(|entry| entry.name);
        for name in methods.chain(registry.net_names()) {
            assert!(after_help(&registry).contains(name), "{name}");
        }
    }

    fn variance(args: &[&str]) -> Result<Variance, clap::Error> {
        let cli = Cli::try_parse_from(["helmholtz", "variance"].iter().chain(args))?;
        match cli.command {
            Command::Variance(args) => Ok(args),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn bare_variance_is_the_protocol_of_the_paper() {
        let args = variance(&[]).unwrap();
        assert_eq!((args.replicates, args.batch), (1000, 200));
        let methods = variance(&["--method", "jsa,rloo"]).unwrap().methods;
        assert_eq!(methods, ["jsa", "rloo"]);
    }

    #[test]
    fn variance_refuses_what_makes_no_sense() {
        let error = |args: &[&str]| variance(args).unwrap_err().to_string();
        assert!(error(&["--replicates", "2"]).contains("3.."));
        assert!(error(&["--stage", "3"]).contains("1..=2"));
        assert!(error(&["--run", "x", "--net", "linear"]).contains("cannot be used with"));
        assert!(error(&["--selected"]).contains("--run <FOLDER>"));
    }

    #[test]
    fn bad_values_are_answered_with_what_would_be_good() {
        let error = |args: &[&str]| reproduce(args).unwrap_err().to_string();
        assert!(error(&["--device", "gpu"]).contains("[possible values: cpu, wgpu, cuda]"));
        assert!(error(&["--seeds", "x"]).contains("write seeds as"));
        assert!(error(&["--epochs", "0"]).contains("1.."));
        assert!(error(&["--methd", "jsa"]).contains("--method"));
    }
}

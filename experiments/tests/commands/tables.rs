//! Tables 2 and 3, and those of the ARM slides, small: the program itself, from an edited file to the table, on generated images; stopped, and gone on with.

use crate::few;
use crate::support::{helmholtz, metrics, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TABLE_2: &str = include_str!("../../table2.toml");
const TABLE_3: &str = include_str!("../../table3.toml");
const ARM_TABLE_2: &str = include_str!("../../arm-table2.toml");
const ARM_TABLE_3: &str = include_str!("../../arm-table3.toml");

/// A file of two epochs with few images at checks, in `folder`.
fn small(folder: &Path, name: &str, text: &str) -> PathBuf {
    let epochs = text
        .lines()
        .rev()
        .find(|line| line.starts_with("epochs = "));
    // The last `epochs` of the file is the quick profile's.
    let text = text
        .replace(epochs.expect("quick has epochs"), "epochs = 2")
        .replace("valid_images = 500 ", "valid_images = 20 ")
        .replace("test_images = 500", "test_images = 20")
        .replace("valid_images = 1000 ", "valid_images = 20 ")
        .replace("test_images = 1000", "test_images = 20");
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    path
}

/// The command on `data`, a data set.
fn command(folder: &Path, toml: &Path, data: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command
        .arg("reproduce")
        .arg(toml)
        .args(["--dataset", data, "--out", "runs", "--jobs", "1"])
        .args(more)
        .current_dir(folder);
    command
}

/// The text of a run that ends well.
fn run(folder: &Path, toml: &Path, data: &str, more: &[&str]) -> String {
    let output = command(folder, toml, data, more).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

fn result(run: &Path) -> serde_json::Value {
    let text = fs::read_to_string(run.join("result.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["content"].take()
}

/// Width, height and pixels of a grey PNG.
fn picture(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

#[test]
fn table_3_has_a_row_for_each_method_and_k_and_a_picture_in_each_run() {
    let dir = tempfile::tempdir().unwrap();
    few::images(dir.path());
    let toml = small(dir.path(), "table3", TABLE_3);
    let chosen = ["--method", "jsa,rloo", "--particles", "3,2"];
    let out = run(dir.path(), &toml, "few.npy", &chosen);
    assert!(
        out.contains("structured, K = 2") && out.contains("Lower half given the upper, K = 3"),
        "{out}"
    );
    let base = dir.path().join("runs/table3/quick").join(few::NAME);
    let table = fs::read_to_string(base.join("table.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4, "{table}");
    let row = format!("structured,2,jsa,{}", few::NAME);
    assert!(table.contains(&row), "{table}");
    for k in [2, 3] {
        let run = base.join(format!("structured/particles-{k}/jsa/seed-1"));
        let (width, height, pixels) = picture(&run.join("completions.png"));
        assert_eq!((width, height), (10 * 30 + 2, 10 * 30 + 2));
        // The first image is whole, the second has its upper half alone, and a sample has the same upper half.
        let image = |column: usize, rows: std::ops::Range<usize>| -> Vec<u8> {
            let line = |y: usize| &pixels[(2 + y) * width as usize + 2 + column * 30..][..28];
            rows.flat_map(line).copied().collect()
        };
        assert!(
            image(0, 0..28)
                .iter()
                .all(|&pixel| pixel == 0 || pixel == 255)
        );
        assert!(image(1, 14..28).iter().all(|&pixel| pixel == 160));
        for column in 1..10 {
            assert_eq!(image(column, 0..14), image(0, 0..14));
        }
        assert_ne!(image(2, 14..28), image(3, 14..28));
    }
    let again = run(dir.path(), &toml, "few.npy", &chosen);
    assert!(again.contains("4 runs, all done."), "{again}");
    // A table holds what earlier requests made.
    let more = run(
        dir.path(),
        &toml,
        "few.npy",
        &["--method", "jsa", "--particles", "2"],
    );
    assert!(more.contains("K = 3"), "{more}");
}

#[test]
fn a_killed_run_of_table_3_goes_on_and_ends_as_an_undisturbed_one() {
    let dir = tempfile::tempdir().unwrap();
    let text = TABLE_3.replace("checkpoint_seconds = 60", "checkpoint_seconds = 1");
    let chosen = ["--method", "jsa", "--particles", "2"];
    let run_of = |name: &str| {
        let run = format!("runs/{name}/quick/glyphs/structured/particles-2/jsa/seed-1");
        dir.path().join(run)
    };
    let file = |name: &str| {
        let text = text.replace("name = \"table3\"", &format!("name = \"{name}\""));
        small(dir.path(), name, &text)
    };
    let killed = file("killed");
    let mut first = command(dir.path(), &killed, "glyphs", &chosen);
    let mut first = first
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !run_of("killed").join("checkpoints/000001").is_dir() {
        assert!(begin.elapsed() < Duration::from_secs(300), "no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
    first.kill().unwrap();
    first.wait().unwrap();

    run(dir.path(), &killed, "glyphs", &chosen);
    run(dir.path(), &file("undisturbed"), "glyphs", &chosen);
    let [killed, undisturbed] = [run_of("killed"), run_of("undisturbed")];
    assert_eq!(metrics(&killed), metrics(&undisturbed));
    assert_eq!(
        result(&killed)["test_nll"],
        result(&undisturbed)["test_nll"]
    );
    let picture_of = |run: &Path| picture(&run.join("completions.png"));
    assert_eq!(picture_of(&killed), picture_of(&undisturbed));
}

#[test]
fn table_2_tells_the_released_formula_beside_the_likelihood() {
    let dir = tempfile::tempdir().unwrap();
    few::images(dir.path());
    let two = TABLE_2.replace("particles = 20\n", "particles = 2\n");
    let toml = small(dir.path(), "table2", &two);
    let methods = "jsa,jsa-frozen-reference,st-gumbel-softmax-learned,arsm";
    let out = run(dir.path(), &toml, "few.npy", &["--method", methods]);
    let words: Vec<&str> = out.split_whitespace().collect();
    let told = words
        .join(" ")
        .contains("the released code's formula gives");
    assert!(told, "{out}");
    let base = dir.path().join("runs/table2/quick").join(few::NAME);
    let table = |name: &str| fs::read_to_string(base.join(name)).unwrap();
    let row = "ST Gumbel-softmax (learned), by the released formula | ";
    assert_eq!(table("table.md").matches(row).count(), 1);
    assert!(table("table.csv").contains(",released_nll_mean,"));
    let base = base.join("categorical");
    let of = |method: &str| result(&base.join(method).join("seed-1"));
    let pictured = |name: &str| picture(&base.join("jsa/seed-1").join(name));
    let (sampled, reconstructed) = (pictured("sampled.png"), pictured("reconstructed.png"));
    assert_eq!((sampled.0, sampled.1), (10 * 30 + 2, 6 * 30 + 2));
    assert_eq!(
        (reconstructed.0, reconstructed.1),
        (10 * 30 + 2, 4 * 30 + 2)
    );
    let straight_through = of("st-gumbel-softmax-learned");
    let released = straight_through["released_nll"].as_f64().unwrap();
    let right = straight_through["test_nll"].as_f64().unwrap();
    assert!(released.is_finite() && released != right);
    // Evaluated again, by the same draws.
    let samples = straight_through["samples"].to_string();
    let folder = base.join("st-gumbel-softmax-learned/seed-1");
    let folder = folder.to_str().unwrap();
    let again = ["evaluate", folder, "--samples", &samples];
    let shown = helmholtz(dir.path(), &[&again[..], &["--json"]].concat());
    let shown = String::from_utf8(shown.stdout).unwrap();
    let table: serde_json::Value = serde_json::from_str(shown.lines().last().unwrap()).unwrap();
    let table = &table["table"];
    assert_eq!(table["released"][0]["mean"].as_f64(), Some(released));
    assert_ne!(table["rows"][0]["mean"].as_f64(), Some(released));
    let shown = text(&helmholtz(dir.path(), &again));
    assert!(shown.contains("By the released formula"), "{shown}");
    assert!(of("jsa").get("released_nll").is_none());
    // Two kernels, one start.
    assert_ne!(
        of("jsa")["test_nll"],
        of("jsa-frozen-reference")["test_nll"]
    );
}

/// The file with few images at checks, and few samples in the end, in `folder`.
fn arm(folder: &Path, name: &str, text: &str) -> PathBuf {
    let text = text
        .replace("valid_images = 1000 ", "valid_images = 20 ")
        .replace("test_images = 1000", "test_images = 20")
        .replace("final_samples = 10\n", "final_samples = 2\n")
        .replace(
            "final_samples = 20\n",
            "valid_images = 20\nfinal_samples = 2\n",
        );
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn arm_table_2_tells_bounds_and_its_figure_draws_them() {
    let dir = tempfile::tempdir().unwrap();
    let toml = arm(dir.path(), "arm-table2", ARM_TABLE_2);
    let few = ["--epochs", "1"];
    let chosen = [&few[..], &["--net", "linear", "--method", "arm,disarm"]].concat();
    let out = run(dir.path(), &toml, "glyphs", &chosen);
    assert!(
        out.contains("1 epoch, batch 100, K = 1, Adam 0.001"),
        "{out}"
    );
    assert!(out.contains("the variational bound -ELBO"), "{out}");
    let base = dir.path().join("runs/arm-table2/quick-1-epochs/glyphs");
    let of = |run: &str| result(&base.join(run).join("seed-1"));
    let (arm, disarm) = (of("linear/arm"), of("linear/disarm"));
    assert!(arm["bound"].as_f64() > arm["final_nll"].as_f64());
    assert_ne!(arm["bound"], disarm["bound"]);
    // Categorical latents: what is defined for bits alone is passed over unasked.
    let unasked = [&few[..], &["--net", "categorical", "--dry-run"]].concat();
    let out = run(dir.path(), &toml, "glyphs", &unasked);
    assert!(out.contains("3 runs"), "{out}");

    let output = Command::new(env!("CARGO_BIN_EXE_helmholtz"))
        .args(["reproduce", "arm-fig2", "--dataset", "glyphs"])
        .args(["--epochs", "1", "--method", "arm,disarm"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let drawn = dir
        .path()
        .join("runs/arm-fig2/quick-1-epochs/glyphs/arm-fig2.csv");
    let csv = fs::read_to_string(drawn).unwrap();
    let mut drawn = csv
        .lines()
        .filter(|line| line.contains("\"Linear, against iterations\""));
    // 50 steps of 100 images.
    assert!(drawn.any(|line| line.contains(",0.05,")), "{csv}");
}

#[test]
fn arm_table_3_completes_images_without_an_inference_net() {
    let dir = tempfile::tempdir().unwrap();
    let toml = arm(dir.path(), "arm-table3", ARM_TABLE_3);
    let methods = ["--epochs", "1", "--method", "arm,slope-annealed,nvil"];
    let out = run(dir.path(), &toml, "glyphs", &methods);
    assert!(out.contains("392-200-200-392"), "{out}");
    let base = dir.path().join("runs/arm-table3/quick-1-epochs/glyphs");
    for net in ["feedforward", "feedforward-linear"] {
        for method in ["arm", "slope-annealed", "nvil"] {
            let run = base.join(net).join(method).join("seed-1");
            let nll = result(&run)["final_nll"].as_f64().unwrap();
            // 392 pixels: a fair coin each would be 272 nats.
            assert!(nll < 250.0, "{net} {method}: {nll}");
            assert_eq!(picture(&run.join("completions.png")).0, 10 * 30 + 2);
        }
    }
    let again = run(dir.path(), &toml, "glyphs", &methods);
    assert!(again.contains("6 runs, all done."), "{again}");
}

#[test]
fn a_grid_trains_a_table_at_each_value_and_shows_each_cell_at_its_best() {
    let dir = tempfile::tempdir().unwrap();
    let table = include_str!("../../table1.toml").replace("batch = 50 ", "batch = 500 ");
    small(dir.path(), "table", &table);
    let grid = include_str!("../../rates.toml")
        .replace("\"table1\"", "\"table.toml\"")
        .replace("values = [1e-4, 3e-4, 1e-3]", "values = [1e-4, 1e-3, 1.0]");
    let grid_toml = dir.path().join("grid.toml");
    fs::write(&grid_toml, &grid).unwrap();
    let args = [
        "--net", "linear", "--method", "rws", "--seeds", "1-2", "--epochs", "2",
    ];
    let lines = run(
        dir.path(),
        &grid_toml,
        "glyphs",
        &[&args[..], &["--json"]].concat(),
    );
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    let mean = |value: usize, which: usize| {
        let runs = last["table"][0]["runs"][value].as_array().unwrap();
        runs.iter()
            .map(|run| run[which].as_f64().unwrap())
            .sum::<f64>()
            / runs.len() as f64
    };
    // The greatest rate is of no use, and the least too small for two epochs.
    assert!(mean(1, 0) < mean(0, 0) && mean(1, 0) < mean(2, 0));
    let base = dir.path().join("runs/rates/quick-2-epochs/glyphs");
    let shown = fs::read_to_string(base.join("table.csv")).unwrap();
    let row = shown.lines().nth(1).unwrap();
    assert!(row.contains(",0.001,") && row.ends_with(",2"), "{shown}");
    assert!(row.contains(&mean(1, 1).to_string()), "{shown}");
    assert!(
        dir.path()
            .join("runs/rates-1e0/quick-2-epochs/glyphs/linear/rws/seed-2/result.json")
            .is_file()
    );
    let again = run(dir.path(), &grid_toml, "glyphs", &args);
    assert!(again.contains("6 runs, all done."), "{again}");
    // A report has it from the numbers, whose table is gone.
    fs::remove_file(base.join("table.md")).unwrap();
    let output = helmholtz(dir.path(), &["report", "--out", "runs"]);
    assert!(output.status.success(), "{output:?}");
    let csv = dir
        .path()
        .join("report/tables/runs-rates-quick-2-epochs-glyphs-grid.csv");
    assert_eq!(fs::read_to_string(csv).unwrap(), shown);
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_starts() {
    let rejection = |args: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
        let output = command
            .arg("reproduce")
            .args(args)
            .env_remove("HELMHOLTZ_DATA")
            .env("XDG_CACHE_HOME", dir.path().join("cache"))
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(
            !output.status.success() && output.stdout.is_empty(),
            "{args:?}"
        );
        assert!(!dir.path().join("runs").exists(), "{args:?}");
        text(&output)
    };
    for (args, parts) in [
        (
            &["table2", "--method", "disarm"][..],
            ["`disarm`", "bits alone"],
        ),
        (
            &["table3", "--method", "rloo", "--particles", "1"],
            ["`rloo`", "at least 2 particles"],
        ),
        (&["table2", "--particles", "5"], ["--particles", "copy"]),
        (&["table3", "--net", "linear"], ["`linear`", "structured"]),
        (&["table3", "--particles", "0"], ["--particles", "1.."]),
        (
            &["arm-table2", "--net", "categorical", "--method", "arm"],
            ["`arm`", "bits alone"],
        ),
        (
            &["arm-table2", "--profile", "july"],
            ["`july`", "paper-omniglot"],
        ),
        (
            &["arm-table2", "--profile", "paper-omniglot"],
            ["chardata.mat", "omniglot-105-to-28"],
        ),
        (
            &["arm-table3", "--net", "structured"],
            ["`structured`", "feedforward-linear"],
        ),
    ] {
        let text = rejection(args);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

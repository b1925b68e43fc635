//! The table as comma-separated values: a line for each net and method, full precision, empty where there is nothing.

use super::Table;
use helmholtz_report::csv::lines;

/// The table; for generated images without the columns of published numbers.
pub fn render(table: &Table) -> String {
    let by_particles = table.rows.iter().any(|row| row.particles.is_some());
    let released = table.rows.iter().any(|row| row.released.is_some());
    let mut head = vec!["net"];
    head.extend(by_particles.then_some("particles"));
    head.extend(["method", "dataset", "synthetic", "profile", "seeds"]);
    head.extend(["test_nll_mean", "test_nll_sd"]);
    if table.bounds {
        head.extend(["test_nll_errors_over_images", "bound_mean"]);
    }
    if released {
        head.extend(["released_nll_mean", "released_nll_sd"]);
    }
    if !table.synthetic {
        head.extend(["published_mean", "published_sd", "published_is_quoted"]);
        head.extend(["difference_nats", "difference_sds"]);
        if table.bounds {
            head.extend(["published_bound", "published_is_doubtful"]);
        }
        if released {
            head.push("released_difference_nats");
        }
    }
    head.extend(["selected_epochs", "epochs_done", "epochs_planned"]);
    head.extend(["samples", "test_images"]);
    let mut records = vec![head.into_iter().map(String::from).collect()];
    for row in &table.rows {
        let each = |of: &dyn Fn(&crate::likelihood::cell_runner::CellResult) -> u64| {
            row.results
                .values()
                .map(|result| of(result).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let errors = || {
            let errors = row.results.values().map(|r| r.reported_se().to_string());
            errors.collect::<Vec<_>>().join(" ")
        };
        let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
        let mut cells = vec![row.net.clone()];
        cells.extend(row.particles.map(|particles| particles.to_string()));
        cells.extend([
            row.method.clone(),
            table.dataset.clone(),
            table.synthetic.to_string(),
            table.profile.clone(),
            row.results
                .keys()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            number(row.ours.map(|ours| ours.mean)),
            number(row.ours.and_then(|ours| ours.sd)),
        ]);
        if table.bounds {
            cells.extend([errors(), number(row.bound.map(|bound| bound.mean))]);
        }
        if released {
            cells.extend([
                number(row.released.map(|released| released.mean)),
                number(row.released.and_then(|released| released.sd)),
            ]);
        }
        if !table.synthetic {
            cells.extend([
                number(row.published.map(|p| p.mean)),
                number(row.published.and_then(|p| p.sd)),
                row.published
                    .or(row.published_bound)
                    .map_or(String::new(), |p| p.quoted.to_string()),
                number(row.difference.map(|d| d.nats)),
                number(row.difference.and_then(|d| d.sds)),
            ]);
            if table.bounds {
                let either = row.published.or(row.published_bound);
                cells.extend([
                    number(row.published_bound.map(|p| p.mean)),
                    either.map_or(String::new(), |p| p.doubtful.to_string()),
                ]);
            }
            if released {
                let difference = row.by_released().and_then(|row| row.difference);
                cells.push(number(difference.map(|d| d.nats)));
            }
        }
        cells.extend([
            each(&|r| r.selected_epoch),
            each(&|r| r.epochs_done),
            each(&|r| r.epochs_planned),
            each(&|r| r.reported_samples()),
            each(&|r| r.images),
        ]);
        records.push(cells);
    }
    lines(records)
}

#[cfg(test)]
mod tests {
    use crate::table::tests::{done, table};

    #[test]
    fn every_line_has_every_column_and_numbers_keep_their_digits() {
        let cells = [
            done("linear", "jsa", 1, 105.75, 5),
            done("linear", "jsa", 2, 106.25, 5),
        ];
        assert_eq!(
            super::render(&table("quick", false, &cells[..1])),
            "net,method,dataset,synthetic,profile,seeds,test_nll_mean,test_nll_sd,published_mean,published_sd,\
             published_is_quoted,difference_nats,difference_sds,selected_epochs,epochs_done,epochs_planned,samples,\
             test_images\n\
             linear,jsa,binarized-mnist,false,quick,1,105.75,,105.5,0.1,false,0.25,2.5,4,5,5,100,1000\n"
        );
        let text = super::render(&table("quick", true, &cells));
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [13, 13]);
        assert!(
            text.contains("linear,jsa,glyphs,true,quick,1 2,106,0.3535"),
            "{text}"
        );
    }
}

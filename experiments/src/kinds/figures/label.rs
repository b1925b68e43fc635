//! Labels of a run's curve and of a figure.

use helmholtz_datasets::caution;

/// The method's label, with the seed where there are several of that net and method.
pub fn label(method: &str, seed: u64, several: bool) -> String {
    match several {
        true => format!("{method}, seed {seed}"),
        false => method.to_string(),
    }
}

/// A figure's title with the data set that its runs are on, and in capitals what is to be known of it before anything is compared.
pub fn titled(title: &str, dataset: &str) -> String {
    let caution = caution(dataset);
    let warned = caution.and_then(|text| text.split(':').next());
    match warned {
        Some(warning) => format!("{title}. {warning}"),
        None => format!("{title} ({dataset})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_told_where_there_are_several() {
        assert_eq!(label("JSA", 3, false), "JSA");
        assert_eq!(label("JSA", 3, true), "JSA, seed 3");
    }

    #[test]
    fn images_that_are_not_the_publications_are_told_in_the_title() {
        assert_eq!(
            titled("Figure 1", "binarized-mnist"),
            "Figure 1 (binarized-mnist)"
        );
        for name in ["glyphs", "grey-mnist", "omniglot-105-to-28"] {
            let title = titled("Figure 1", name);
            assert!(
                title.contains("GENERATED")
                    || title.contains("GREY")
                    || title.contains("105 TO 28"),
                "{title}"
            );
        }
    }
}

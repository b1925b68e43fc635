//! Runs that differ in their seed alone, shown together.

use helmholtz_report::{Document, Section};
use serde_json::{Value, json};

/// Document of a seed's run, with its line of JSON.
pub struct SeedDocument {
    /// The seed.
    pub seed: u64,
    /// For people.
    pub document: Document,
    /// Its line of JSON.
    pub json: Value,
}

/// The documents of all seeds one after the other, a single one as it is, and their JSON; none if there are none.
pub fn together(title: &str, mut all: Vec<SeedDocument>) -> Option<(Document, Value)> {
    let tables = all
        .iter()
        .map(|shown| json!({"seed": shown.seed, "table": shown.json}));
    let json = json!(tables.collect::<Vec<_>>());
    let document = match all.len() {
        0 => return None,
        1 => all.remove(0).document,
        _ => Document {
            title: title.into(),
            sections: all.into_iter().flat_map(sections).collect(),
        },
    };
    Some((document, json))
}

fn sections(shown: SeedDocument) -> impl Iterator<Item = Section> {
    let SeedDocument { seed, document, .. } = shown;
    document.sections.into_iter().map(move |section| Section {
        id: format!("seed-{seed}-{}", section.id),
        title: match section.title.as_str() {
            "" => format!("Seed {seed}"),
            title => format!("Seed {seed}: {title}"),
        },
        blocks: section.blocks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use helmholtz_report::Block;

    #[test]
    fn one_document_stays_as_it_is_and_several_are_named_by_their_seeds() {
        let shown = |seed: u64| SeedDocument {
            seed,
            document: Document::of_blocks("Toy", vec![Block::Text(format!("of {seed}"))]),
            json: json!(seed),
        };
        assert!(together("Toy", vec![]).is_none());
        assert_eq!(together("Toys", vec![shown(3)]).unwrap().0.title, "Toy");
        let (document, json) = together("Toys", vec![shown(3), shown(4)]).unwrap();
        let titles: Vec<_> = document.sections.iter().map(|s| s.title.as_str()).collect();
        assert_eq!(titles, ["Seed 3", "Seed 4"]);
        assert_eq!(json[1], json!({"seed": 4, "table": 4}));
    }
}

//! Comma-separated values.

/// Records of fields, quoted where RFC 4180 asks for it.
pub fn lines(records: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    for record in records {
        writer.write_record(&record).expect("memory takes it");
    }
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("fields are text")
}

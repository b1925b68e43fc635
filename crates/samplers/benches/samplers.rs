//! What a training step asks of this crate: 50 data, 200 latents, a few proposals each.

use criterion::{Criterion, Throughput};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{
    ChainStore, IndexKernel, Latents, MappedStore, MemoryStore, Mis, Mtmis, Scan, ScanOrder,
    pack_bits, unpack_bits,
};

const BENCH: Purpose = Purpose::new("bench");
const ROWS: usize = 50_000;
const BATCH: usize = 50;
const BITS: usize = 200;

fn kernels(c: &mut Criterion) {
    let mut stream = Stream::new(1, BENCH, [0, 0]);
    let mut visits = Vec::new();
    for particles in [2, 10, 50] {
        let log_w: Vec<f64> = (0..=particles)
            .map(|_| 10.0 * stream.uniform_f64() - 90.0)
            .collect();
        let mut group = c.benchmark_group(format!("{particles} particles"));
        group.throughput(Throughput::Elements(particles as u64));
        group.bench_function("mis", |b| {
            b.iter(|| Mis.run(log_w[0], &log_w[1..], &mut stream, &mut visits))
        });
        group.bench_function("mtmis", |b| {
            b.iter(|| Mtmis.run(log_w[0], &log_w[1..], &mut stream, &mut visits))
        });
        group.finish();
    }
}

fn bits(c: &mut Criterion) {
    let mut values = vec![0.0; BATCH * BITS];
    Stream::new(1, BENCH, [1, 0]).fill_uniform_f32(&mut values);
    let mut packed = vec![0; BATCH * BITS / 8];
    let mut group = c.benchmark_group("bits of 50 x 200");
    group.throughput(Throughput::Bytes(4 * values.len() as u64));
    group.bench_function("pack", |b| b.iter(|| pack_bits(&values, BITS, &mut packed)));
    group.bench_function("unpack", |b| {
        b.iter(|| unpack_bits(&packed, BITS, &mut values))
    });
    group.finish();
}

fn stores(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let latents = Latents::new(&[BITS]).expect("a layout");
    let mut memory = MemoryStore::new(&latents, ROWS).expect("a store");
    let mut mapped = MappedStore::create(folder.path(), &latents, ROWS).expect("a store");
    let rows = Scan::new(ScanOrder::Shuffled, 1, ROWS as u32, BATCH)
        .and_then(|mut scan| scan.batch(0, 0))
        .expect("a batch");
    let mut packed = vec![0; BATCH * latents.bytes_per_row()];
    let mut group = c.benchmark_group("50 of 50 000 rows");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function("memory load", |b| {
        b.iter(|| memory.load(&rows, &mut packed))
    });
    group.bench_function("memory store", |b| b.iter(|| memory.store(&rows, &packed)));
    group.bench_function("mapped load", |b| {
        b.iter(|| mapped.load(&rows, &mut packed))
    });
    group.bench_function("mapped store", |b| b.iter(|| mapped.store(&rows, &packed)));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    kernels(&mut criterion);
    bits(&mut criterion);
    stores(&mut criterion);
    criterion.final_summary();
}

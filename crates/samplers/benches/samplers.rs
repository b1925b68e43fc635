//! What a training step asks of this crate: 50 data, 200 latents, a few proposals each; and steps of state kernels.

use criterion::{Criterion, Throughput};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{
    ChainStore, Cis, FiniteGibbs, Hmc, IndexKernel, Kernel, Latents, MappedStore, MemoryStore, Mis,
    Mixture, Mtmis, Repeat, Scan, ScanOrder, pack_bits, unpack_bits,
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
        group.bench_function("cis", |b| {
            b.iter(|| Cis.run(log_w[0], &log_w[1..], &mut stream, &mut visits))
        });
        group.finish();
    }
}

/// A random-scan sweep over a ring of 1000 sites with 3 values, and an HMC step of 10 leapfrog steps in 100 dimensions.
fn state_kernels(c: &mut Criterion) {
    let mut stream = Stream::new(1, BENCH, [2, 0]);
    let sites = 1000;
    let site = |i: usize| {
        let local = move |x: &Vec<usize>| {
            let equal = |j: usize| f64::from(u8::from(x[i] == x[j % sites]));
            0.7 * (equal(i + 1) + equal(i + sites - 1))
        };
        FiniteGibbs::new(local, i, vec![0, 1, 2])
    };
    let scan = Mixture::uniform((0..sites).map(site).collect()).expect("sites");
    let sweep = Repeat::new(scan, sites);
    let mut field = vec![0; sites];
    let mut group = c.benchmark_group("state kernels");
    group.bench_function("random scan of 1000 sites", |b| {
        b.iter(|| sweep.step(&mut field, &mut stream))
    });
    let normal = |x: &[f64], gradient: &mut [f64]| {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g -= x);
        -0.5 * x.iter().map(|x| x * x).sum::<f64>()
    };
    let hmc = Hmc::new(normal, 0.3, 10).expect("a kernel");
    let mut x = vec![0.0; 100];
    group.bench_function("hmc in 100 dimensions", |b| {
        b.iter(|| hmc.step(&mut x, &mut stream))
    });
    group.finish();
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
    state_kernels(&mut criterion);
    bits(&mut criterion);
    stores(&mut criterion);
    criterion.final_summary();
}

//! Products of packed bits by each way beside the dense product of the same bits as numbers, over rows and densities, on one thread,
//! in turn. Prints how many times as fast each is, and writes the picture to `target/bits.svg`, with the way that is chosen marked.
//!
//! `cargo bench -p helmholtz-ops --bench bits`

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::{Flex, FlexTensor};
use helmholtz_ops::{BitWay, PackedBits, bit_linear_by, linear};
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::figure::{Axis, Figure, Panel, Series};

const ROWS: [usize; 12] = [1, 2, 4, 8, 16, 32, 64, 150, 250, 1000, 3000, 10_000];
const DENSITIES: [f64; 4] = [0.05, 0.13, 0.25, 0.5];
/// Bits and columns: the decoder's and the encoder's of table 1's linear net.
const SHAPES: [[usize; 2]; 2] = [[200, 784], [784, 200]];

struct Case {
    dense: Tensor<Flex, 2>,
    packed: PackedBits<Flex>,
    weight: Tensor<Flex, 2>,
    bias: Tensor<Flex, 1>,
}

impl Case {
    fn new(rows: usize, [inner, columns]: [usize; 2], density: f64) -> Self {
        let mut stream = Stream::new(1, Purpose::new("bench"), [rows as u64, inner as u64]);
        let mut numbers = |count: usize| {
            let mut values = vec![0.0f32; count];
            stream.fill_uniform_f32(&mut values);
            values
        };
        let device = Default::default();
        let one = |u: f32| f32::from(u8::from(f64::from(u) < density));
        let bits: Vec<f32> = numbers(rows * inner).into_iter().map(one).collect();
        let dense = Tensor::from_data(TensorData::new(bits, [rows, inner]), &device);
        let weight = TensorData::new(numbers(inner * columns), [inner, columns]);
        Self {
            packed: PackedBits::of(dense.clone()),
            dense,
            weight: Tensor::from_data(weight, &device),
            bias: Tensor::zeros([columns], (&device, DType::F32)),
        }
    }

    fn primitives(&self) -> [FlexTensor; 3] {
        [
            self.packed.words().clone().into_primitive(),
            self.weight.clone().into_primitive().tensor(),
            self.bias.clone().into_primitive().tensor(),
        ]
    }

    /// Median seconds of the dense product, of the three ways, and of the way that is chosen.
    fn seconds(&self) -> [f64; 5] {
        let [words, weight, bias] = self.primitives();
        let by = |way| bit_linear_by(way, &words, &weight, &bias);
        let mut times = [const { Vec::new() }; 5];
        let mut spent = 0.0;
        while times[0].len() < 7 || (spent < 0.3 && times[0].len() < 300) {
            for (index, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                match index {
                    0 => {
                        let (weight, bias) = (self.weight.clone(), self.bias.clone());
                        black_box(linear(self.dense.clone(), weight, bias));
                    }
                    1 => drop(black_box(by(BitWay::Dense))),
                    2 => drop(black_box(by(BitWay::Tables))),
                    3 => drop(black_box(by(BitWay::Sums))),
                    _ => {
                        let (weight, bias) = (self.weight.clone(), self.bias.clone());
                        black_box(linear(self.packed.clone(), weight, bias));
                    }
                }
                let seconds = start.elapsed().as_secs_f64();
                spent += seconds;
                times.push(seconds);
            }
        }
        times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
    }
}

fn main() {
    println!("| bits x columns | density | rows | as numbers, unpacked | tables | sums | chosen |");
    println!("|---|---|---|---|---|---|---|");
    let mut worst = f64::INFINITY;
    let mut panels = Vec::new();
    for shape in SHAPES {
        for density in DENSITIES {
            let mut curves = [const { Vec::new() }; 4];
            for rows in ROWS {
                let seconds = Case::new(rows, shape, density).seconds();
                let ratios: Vec<f64> = seconds[1..].iter().map(|s| seconds[0] / s).collect();
                worst = worst.min(ratios[3]);
                let [unpacked, tables, sums, chosen] = ratios[..] else {
                    unreachable!("four ways were timed")
                };
                println!(
                    "| {} x {} | {density} | {rows} | {unpacked:.2} | {tables:.2} | {sums:.2} | {chosen:.2} |",
                    shape[0], shape[1]
                );
                let points = [unpacked, tables, sums, chosen];
                for (curve, ratio) in curves.iter_mut().zip(points) {
                    curve.push([rows as f64, ratio]);
                }
            }
            panels.push(panel(shape, density, curves));
        }
    }
    let figure = Figure {
        title: "Products with rows of bits".into(),
        columns: DENSITIES.len(),
        panels,
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    figure.write(&folder, "bits").expect("a picture");
    println!("the chosen way beside the dense product, at worst: {worst:.2}");
}

/// One panel: how many times as fast as dense, over rows.
fn panel([inner, columns]: [usize; 2], density: f64, curves: [Vec<[f64; 2]>; 4]) -> Panel {
    let names = ["unpacked", "tables", "sums", "chosen"];
    let series = curves.into_iter().zip(names).enumerate();
    let series = series.map(|(style, (points, label))| Series::line(label, style, points));
    Panel {
        title: format!("{inner} bits x {columns}, {density} ones"),
        x: Axis::log("rows"),
        y: Axis::linear("times as fast as dense"),
        series: series.collect(),
    }
}

//! Work that several threads share.

use std::cell::{Cell, RefCell};
use std::sync::Mutex;

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// See [`spread`].
    static THREADS: Cell<usize> = const { Cell::new(1) };
    /// See [`with_helpers`].
    static HELPERS: RefCell<Option<ThreadPool>> = const { RefCell::new(None) };
}

/// Does `work`, whose operations on burn's CPU backend share so many threads, the caller's among them.
///
/// Matrix products and operations on rows share them, if they are large enough. Rows are independent, so that results have the same
/// bits for any number of threads. It holds for this thread alone, and until `work` is done.
pub fn spread<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    /// The number before, also after a panic.
    struct Before(usize);
    impl Drop for Before {
        fn drop(&mut self) {
            THREADS.set(self.0);
        }
    }
    let _before = Before(THREADS.replace(threads.max(1)));
    work()
}

/// Does `work` on so many threads at once, the caller's among them.
///
/// The others are the caller's own and stay for its next call: a thread made for each step would start with no memory of its own.
/// Where the system refuses them they are done without.
///
/// # Panics
/// If `work` does.
pub fn with_helpers(threads: usize, work: impl Fn() + Sync) {
    if threads < 2 {
        return work();
    }
    let kept = HELPERS.take();
    let kept = kept.filter(|pool| pool.current_num_threads() >= threads - 1);
    let build = || ThreadPoolBuilder::new().num_threads(threads - 1).build();
    match kept.or_else(|| build().ok()) {
        None => work(),
        Some(helpers) => {
            helpers.in_place_scope(|scope| {
                (1..threads).for_each(|_| scope.spawn(|_| work()));
                work();
            });
            HELPERS.set(Some(helpers));
        }
    }
}

/// Threads, of those that [`spread`] gives, of an operation that takes as long as so many multiplications of a product. To wake one
/// costs as much as some five million, and it finds the data in another cache.
#[cfg(feature = "flex")]
pub(crate) fn threads(multiplications: usize) -> usize {
    THREADS.get().min(multiplications >> 24).max(1)
}

/// Rows of each block, for so many blocks at most: a multiple of 64, so that all but the last fill vectors and cache lines.
#[cfg(feature = "flex")]
pub(crate) fn block(rows: usize, blocks: usize) -> usize {
    rows.div_ceil(blocks).next_multiple_of(64).max(64)
}

/// Does `of` for each item and its number, on so many threads that take the next as they become free.
#[cfg(feature = "flex")]
pub(crate) fn each<I: Iterator<Item: Send> + Send>(
    threads: usize,
    items: I,
    of: impl Fn(usize, I::Item) + Sync,
) {
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().expect("no item panics").next();
    with_helpers(threads, || {
        while let Some((number, item)) = next() {
            of(number, item);
        }
    });
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use std::collections::HashSet;
    use std::panic::catch_unwind;
    use std::sync::Mutex;

    use burn::tensor::{Tensor, TensorData};
    use burn_flex::Flex;
    use helmholtz_random::{Purpose, Stream};

    use super::{block, each, spread, threads};
    use crate::{
        AdamStep, Values, adam, bernoulli_log_prob, bounded_log, leaky_relu, linear, tanh,
        tempered_softmax_rows,
    };

    type B = burn::backend::Autodiff<Flex>;

    fn uniform(rows: usize, columns: usize, index: u64) -> Tensor<B, 2> {
        let mut stream = Stream::new(1, Purpose::new("threads"), [index, 0]);
        let mut values = vec![0.0f32; rows * columns];
        stream.fill_uniform_f32(&mut values);
        values.iter_mut().for_each(|value| *value -= 0.5);
        Tensor::from_data(
            TensorData::new(values, [rows, columns]),
            &Default::default(),
        )
    }

    /// The value and all gradients of a decoder of one hidden layer, in bits. Where some are dead, the weights of half the rows are 0, and
    /// so their gradients.
    fn decoder(shared: usize, some_are_dead: bool) -> Vec<u32> {
        let hidden = 600;
        let (rows, columns) = (3995, 301);
        let [x, first, second] = [
            uniform(rows, 50, 0),
            uniform(50, hidden, 1),
            uniform(hidden, columns, 2),
        ]
        .map(Tensor::require_grad);
        let biases = [uniform(1, hidden, 3), uniform(1, columns, 4)].map(Tensor::require_grad);
        let [one, two] = biases.clone().map(|bias| bias.squeeze_dim(0));
        let seen = uniform(17, columns, 5).greater_elem(0.0).float();
        spread(shared, || {
            let hidden = leaky_relu(linear(x.clone(), first.clone(), one), 0.2);
            let logits = tanh(linear(hidden, second.clone(), two));
            let log_prob = bernoulli_log_prob(logits, seen);
            let weights: Tensor<B, 1> = uniform(rows, 1, 6).squeeze_dim(1);
            let weights = match some_are_dead {
                true => weights.clamp_min(0.0),
                false => weights,
            };
            let gradients = (log_prob.clone() * weights).sum().backward();
            let of = |tensor: &Tensor<B, 2>| tensor.grad(&gradients).unwrap().into_data();
            let mut all = vec![log_prob.into_data()];
            all.extend([&x, &first, &second, &biases[0], &biases[1]].map(of));
            let bits = |data: TensorData| data.iter::<f32>().map(f32::to_bits).collect::<Vec<_>>();
            all.into_iter().flat_map(bits).collect()
        })
    }

    #[test]
    fn a_net_and_its_gradients_have_the_same_bits_on_any_number_of_threads() {
        for some_are_dead in [false, true] {
            let alone = decoder(1, some_are_dead);
            for threads in [2, 3, 8] {
                let shared = decoder(threads, some_are_dead);
                assert!(
                    shared == alone,
                    "{threads} threads, dead rows: {some_are_dead}"
                );
            }
        }
    }

    #[test]
    fn log_probabilities_without_gradient_have_the_same_bits_on_any_number_of_threads() {
        let (rows, columns) = (1003, 784);
        let logits = uniform(rows, columns, 7).inner();
        let seen = uniform(17, columns, 8).inner().greater_elem(0.0).float();
        for seen in [Values::from(seen.clone()), Values::binary(seen)] {
            let of = |threads| {
                let log_prob = || bernoulli_log_prob(logits.clone(), seen.clone());
                spread(threads, log_prob).into_data()
            };
            for threads in [2, 3, 8] {
                assert_eq!(of(threads), of(1), "{threads} threads");
            }
        }
    }

    #[test]
    fn logarithms_have_the_same_bits_on_any_number_of_threads() {
        let x = uniform(1003, 784, 9).inner() + 0.5;
        let of = |threads| spread(threads, || bounded_log(x.clone(), 1e-2, 0.9)).into_data();
        for threads in [2, 3, 8] {
            assert_eq!(of(threads), of(1), "{threads} threads");
        }
    }

    #[test]
    fn softmaxes_at_a_temperature_have_the_same_bits_on_any_number_of_threads() {
        let of = |threads| {
            let x = uniform(50_007, 10, 14).require_grad();
            let temperature = Tensor::<B, 2>::full([1, 1], 0.3, &Default::default()).require_grad();
            spread(threads, || {
                let softmax = tempered_softmax_rows(x.clone(), temperature.clone());
                let gradients = (softmax.clone() * uniform(50_007, 10, 15)).sum().backward();
                let of = |tensor: &Tensor<B, 2>| tensor.grad(&gradients).unwrap().into_data();
                [softmax.into_data(), of(&x), of(&temperature)]
            })
        };
        for threads in [2, 3, 8] {
            assert_eq!(of(threads), of(1), "{threads} threads");
        }
    }

    #[test]
    fn an_update_has_the_same_bits_on_any_number_of_threads() {
        let step = AdamStep {
            learning_rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            time: 3,
        };
        let [parameter, grad, m, v] = [10, 11, 12, 13].map(|i| uniform(1003, 784, i).inner());
        let of = |threads| {
            let v = v.clone().abs();
            let update = || adam(parameter.clone(), grad.clone(), m.clone(), v, step);
            let (parameter, m, v) = spread(threads, update);
            [parameter, m, v].map(Tensor::into_data)
        };
        for threads in [2, 3, 8] {
            assert_eq!(of(threads), of(1), "{threads} threads");
        }
    }

    /// The value and all gradients of a layer on packed bits, one in so many of them set, in bits.
    fn layer(shared: usize, one_in: u32) -> Vec<u32> {
        let (rows, inner, columns) = (2003, 600, 501);
        let mut stream = Stream::new(2, Purpose::new("threads"), [0, 0]);
        let values = (0..rows * inner).map(|_| f32::from(u8::from(stream.below(one_in) == 0)));
        let values = TensorData::new(values.collect(), [rows, inner]);
        let values = Values::binary(Tensor::<B, 2>::from_data(values, &Default::default()));
        let weight = uniform(inner, columns, 1).require_grad();
        let bias = uniform(1, columns, 2).require_grad();
        spread(shared, || {
            let outputs = linear(values, weight.clone(), bias.clone().squeeze_dim(0));
            let gradients = (outputs.clone() * uniform(rows, columns, 3))
                .sum()
                .backward();
            let of = |tensor: &Tensor<B, 2>| tensor.grad(&gradients).unwrap().into_data();
            let all = [outputs.into_data(), of(&weight), of(&bias)];
            let bits = |data: TensorData| data.iter::<f32>().map(f32::to_bits).collect::<Vec<_>>();
            all.into_iter().flat_map(bits).collect()
        })
    }

    #[test]
    fn a_layer_on_bits_has_the_same_bits_on_any_number_of_threads() {
        for one_in in [2, 20] {
            let alone = layer(1, one_in);
            for threads in [2, 3, 8] {
                let shared = layer(threads, one_in);
                assert!(shared == alone, "one in {one_in}, {threads} threads");
            }
        }
    }

    #[test]
    fn small_work_is_not_shared_and_large_is_by_as_many_as_it_feeds() {
        assert_eq!(threads(usize::MAX), 1);
        let of = |multiplications| spread(8, || threads(multiplications));
        assert_eq!(
            [0, 1 << 24, 1 << 25, 1 << 26, 1 << 30].map(of),
            [1, 1, 2, 4, 8]
        );
        assert_eq!(spread(0, || threads(1 << 30)), 1);
    }

    #[test]
    fn threads_are_shared_until_the_end_or_a_panic() {
        spread(2, || {
            spread(4, || assert_eq!(threads(1 << 30), 4));
            assert!(catch_unwind(|| spread(8, || panic!("of the test"))).is_err());
            assert_eq!(threads(1 << 30), 2);
        });
        assert_eq!(threads(1 << 30), 1);
    }

    #[test]
    fn blocks_cover_all_rows_and_each_is_done_once() {
        for (rows, blocks) in [
            (0, 1),
            (1, 3),
            (64, 2),
            (65, 2),
            (129, 2),
            (1000, 3),
            (1003, 7),
        ] {
            let size = block(rows, blocks);
            assert!(size > 0 && size.is_multiple_of(64) && size * blocks >= rows);
        }
        let done = Mutex::new(Vec::new());
        each(3, 10..20, |number, item| {
            done.lock().unwrap().push((number, item))
        });
        let done = done.into_inner().unwrap();
        assert_eq!(done.len(), 10);
        let all: HashSet<_> = done.into_iter().collect();
        assert_eq!(all, (0..10).map(|n| (n, n + 10)).collect());
    }
}

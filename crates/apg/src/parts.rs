//! The parts of a batch on threads of their own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::module::{AutodiffModule, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, backend::AutodiffBackend};
use helmholtz_ops::with_helpers;

/// What `of` gives for 0, 1, .. `count` − 1, in this order. At most `threads` of them, the caller's thread among them, take the next
/// number that is left.
///
/// There are no more than there is work for, since they would take turns with those that work.
///
/// # Panics
/// If `of` does.
pub fn on_threads<T: Send>(count: usize, threads: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let only = Turn::of(count);
    with_helpers(threads.min(count), || only.take(&of));
    only.values()
}

/// What [`on_threads`] gives for `first`, and then for `second`, which none begins before all of the first are done.
///
/// To wake a thread costs as much as a small move: between the two they look for each other, and do not sleep.
pub(crate) fn in_two_turns<T: Send, U: Send>(
    count: usize,
    threads: usize,
    first: impl Fn(usize) -> T + Sync,
    second: impl Fn(usize) -> U + Sync,
) -> (Vec<T>, Vec<U>) {
    let (one, two) = (Turn::of(count), Turn::of(count));
    with_helpers(threads.min(count), || {
        one.take(&first);
        one.wait();
        two.take(&second);
    });
    (one.values(), two.values())
}

/// Numbers that are left to take, and what those taken gave.
struct Turn<T> {
    next: AtomicUsize,
    done: AtomicUsize,
    found: Vec<Mutex<Option<T>>>,
}

impl<T: Send> Turn<T> {
    fn of(count: usize) -> Self {
        Self {
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            found: (0..count).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// Takes numbers while there are any.
    fn take(&self, of: &(impl Fn(usize) -> T + Sync)) {
        let numbers = std::iter::repeat_with(|| self.next.fetch_add(1, Ordering::Relaxed));
        for number in numbers.take_while(|&number| number < self.found.len()) {
            let _done = Done(&self.done);
            *self.found[number].lock().expect("a slot has one writer") = Some(of(number));
        }
    }

    /// Until all that were taken are done: by threads at work, since one that waits has taken what was left.
    fn wait(&self) {
        while self.done.load(Ordering::Acquire) < self.found.len() {
            std::thread::yield_now();
        }
    }

    fn values(self) -> Vec<T> {
        let value = |slot: Mutex<Option<T>>| slot.into_inner().ok().flatten();
        let values = self.found.into_iter().map(value);
        values.map(|v| v.expect("each number was taken")).collect()
    }
}

/// Counts a number as done, one that panics too.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// The gradient of a batch in parts, each computed by `of` from a copy of the model and its number, and what else they gave.
///
/// Part p counts with `shares[p]`, its share of the batch: Σ_p s_p ∇_p is the gradient of the mean over instances. The parts are added
/// in their order, so that the bits are the same for every number of threads. A copy has parameters of its own on the tape: burn would
/// put the tapes of parts that share one behind one lock.
///
/// # Errors
/// That of the first part that has one.
pub fn gradients_in_parts<B, M, T, E>(
    model: &M,
    shares: &[f64],
    threads: usize,
    of: impl Fn(&M, usize) -> Result<(GradientsParams, T), E> + Sync,
) -> Result<(GradientsParams, Vec<T>), E>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
    T: Send,
    E: Send,
{
    let copies = shares.iter().map(|_| Mutex::new(Some(copied(model))));
    let copies: Vec<Mutex<Option<M>>> = copies.collect();
    let parts = on_threads(shares.len(), threads, |part| {
        let copy = copies[part].lock().expect("a copy has one reader").take();
        of(&copy.expect("a part is computed once"), part)
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>, E>>()?;
    let (gradients, others): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let gradients = gradients.into_iter().zip(shares.iter().copied());
    Ok((sum(model, gradients), others))
}

/// A model with parameters of its own on the tape.
pub(crate) fn copied<B: AutodiffBackend, M: AutodiffModule<B>>(model: &M) -> M {
    model.clone().map(&mut Copied)
}

/// Σ_p s_p ∇_p of gradients and their shares, added in their order.
fn sum<B: AutodiffBackend, M: AutodiffModule<B>>(
    model: &M,
    parts: impl Iterator<Item = (GradientsParams, f64)>,
) -> GradientsParams {
    let mut sum = GradientsParams::new();
    for (part, share) in parts {
        let mut add = Add {
            sum: &mut sum,
            part,
            share,
        };
        model.visit(&mut add);
    }
    sum
}

/// Gives each parameter a leaf of its own, and leaves it its identity.
struct Copied;

impl<B: AutodiffBackend> ModuleMapper<B> for Copied {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|value| match value.is_require_grad() {
            true => value.detach().require_grad(),
            false => value.detach(),
        })
    }
}

/// Adds a part's share to a sum of gradients.
struct Add<'a> {
    sum: &'a mut GradientsParams,
    part: GradientsParams,
    share: f64,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Add<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let Some(part) = self.part.remove::<B::InnerBackend, D>(param.id) else {
            return;
        };
        let part = part * self.share;
        let sum = match self.sum.remove::<B::InnerBackend, D>(param.id) {
            Some(sum) => sum + part,
            None => part,
        };
        self.sum.register(param.id, sum);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread::ThreadId;
    use std::time::Instant;

    use super::*;

    #[test]
    fn none_takes_its_second_turn_before_all_have_taken_the_first() {
        for threads in [1, 2, 3, 8] {
            let taken = AtomicUsize::new(0);
            let first = |number: usize| {
                // The later, the sooner: who waits for itself alone is seen.
                std::thread::sleep(std::time::Duration::from_millis(2 * (5 - number as u64)));
                taken.fetch_add(1, Ordering::SeqCst)
            };
            let (first, second) = in_two_turns(5, threads, first, |_| taken.load(Ordering::SeqCst));
            assert_eq!(first.len(), 5);
            assert_eq!(second, [5; 5], "{threads} threads");
        }
    }

    /// The threads on which so many numbers are at work at one time.
    fn meet(threads: usize) -> HashSet<ThreadId> {
        let arrived = AtomicUsize::new(0);
        let met = on_threads(threads, threads, |_| {
            arrived.fetch_add(1, Ordering::SeqCst);
            let start = Instant::now();
            while arrived.load(Ordering::SeqCst) < threads && start.elapsed().as_secs() < 20 {
                std::thread::yield_now();
            }
            std::thread::current().id()
        });
        met.into_iter().collect()
    }

    #[test]
    fn as_many_work_at_one_time_as_were_asked_for() {
        // More after fewer: the helpers that were kept are too few.
        for threads in [1, 2, 3, 5, 2] {
            assert_eq!(meet(threads).len(), threads);
        }
    }

    #[test]
    fn no_more_than_were_asked_for_ever_work() {
        let all: HashSet<ThreadId> = (0..100).flat_map(|_| meet(2)).collect();
        assert_eq!(all.len(), 2);
    }

    #[test]
    #[should_panic(expected = "number 1")]
    fn a_panic_in_the_first_turn_leaves_none_waiting() {
        let first = |number| assert_ne!(number, 1, "number 1");
        in_two_turns(4, 2, first, |number| number);
    }

    #[test]
    fn what_is_computed_may_itself_take_threads() {
        let squares = |number| on_threads(3, 3, |inner| number * inner);
        assert_eq!(on_threads(3, 2, squares), [[0, 0, 0], [0, 1, 2], [0, 2, 4]]);
    }
}

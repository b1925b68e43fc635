//! Data in groups of a fixed size, shared out among threads.

use std::ops::Range;
use std::thread;

/// Data that are evaluated together. Fixed, because a group decides which numbers of a stream are whose: the result depends on neither
/// threads nor memory.
pub const GROUP: usize = 10;

/// What the workers make of `rows`, `[rows, columns]`, a group at a time; `None` if one of them answers false.
pub fn by_groups<T, W>(
    rows: Range<usize>,
    columns: usize,
    threads: usize,
    none: T,
    new_worker: impl Fn() -> W,
) -> Option<Vec<T>>
where
    T: Clone + Send,
    W: FnMut(Range<usize>, &mut [T]) -> bool + Send,
{
    let mut found = vec![none; rows.len() * columns];
    let groups = rows.len().div_ceil(GROUP);
    let share = groups.div_ceil(threads.max(1)).max(1) * GROUP;
    let finished = thread::scope(|scope| {
        let workers: Vec<_> = found
            .chunks_mut(share * columns)
            .enumerate()
            .map(|(number, found)| {
                let mut worker = new_worker();
                let start = rows.start + number * share;
                scope.spawn(move || {
                    let mut groups = found.chunks_mut(GROUP * columns).enumerate();
                    groups.all(|(index, found)| {
                        let first = start + index * GROUP;
                        worker(first..first + found.len() / columns, found)
                    })
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.fold(true, |all, one| match one {
            Ok(finished) => all & finished,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    finished.then_some(found)
}

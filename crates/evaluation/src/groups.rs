//! Data in groups of a fixed size, shared out among threads.

use std::ops::Range;
use std::sync::Mutex;
use std::thread;

/// Data that are evaluated together. Fixed, because a group decides which numbers of a stream are whose: the result depends on neither
/// threads nor memory.
pub const GROUP: usize = 10;

/// What the workers make of `rows`, `[rows, columns]`, a group at a time; `None` if one of them answers false. A thread that the system
/// refuses is done without.
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
    let groups = Mutex::new(found.chunks_mut(GROUP * columns).enumerate());
    let work = |mut worker: W| {
        loop {
            let next = groups.lock().expect("no worker holds this lock").next();
            let Some((index, found)) = next else {
                return true;
            };
            let first = rows.start + index * GROUP;
            if !worker(first..first + found.len() / columns, found) {
                return false;
            }
        }
    };
    let work = &work;
    let finished = thread::scope(|scope| {
        let others = (1..threads.min(rows.len().div_ceil(GROUP))).map(|_| new_worker());
        let start = |worker| thread::Builder::new().spawn_scoped(scope, move || work(worker));
        let others: Vec<_> = others.map_while(|worker| start(worker).ok()).collect();
        let own = work(new_worker());
        let joined = others.into_iter().map(|worker| worker.join());
        joined.fold(own, |all, one| match one {
            Ok(finished) => all & finished,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    finished.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_ten_data_whatever_the_columns() {
        let seen = Mutex::new(Vec::new());
        let found = by_groups(5..28, 3, 1, 0, || {
            |group: Range<usize>, found: &mut [usize]| {
                for (row, datum) in found.chunks_mut(3).zip(group.clone()) {
                    row.copy_from_slice(&[datum, 2 * datum, 3 * datum]);
                }
                seen.lock().unwrap().push(group);
                true
            }
        });
        assert_eq!(seen.into_inner().unwrap(), [5..15, 15..25, 25..28]);
        let expected: Vec<usize> = (5..28).flat_map(|x| [x, 2 * x, 3 * x]).collect();
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn one_group_that_is_stopped_leaves_nothing_whoever_has_it() {
        for stopped in [0, 10, 20] {
            let found = by_groups(0..30, 1, 3, 0, || {
                move |group: Range<usize>, _: &mut [usize]| group.start != stopped
            });
            assert_eq!(found, None);
        }
    }
}

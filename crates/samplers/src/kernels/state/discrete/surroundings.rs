//! A state with the differences to its neighbours, and what they are after a step.

use super::{DifferenceTarget, Site};

/// ln p of a state, and the differences to its neighbours.
#[derive(Debug, Default)]
struct Differences {
    log_p: f64,
    /// ln p(x with x_i + s) - ln p(x) for the shifts s = 1, ..., C - 1, `[n, C - 1]`; -inf for impossible values. All are 0
    /// where p(x) is zero, as nothing is known of them.
    of_shifts: Vec<f64>,
    /// Differences that were NaN or +inf, and ln p if it is not finite.
    non_finite: u64,
    /// As the target writes them.
    written: Vec<f64>,
}

impl Differences {
    fn look<V: Site>(&mut self, target: &impl DifferenceTarget<V>, state: &[V]) {
        let values = target.values();
        self.written.resize(values * state.len(), 0.0);
        self.log_p = target.log_density_and_differences(state, &mut self.written);
        self.of_shifts.clear();
        if !self.log_p.is_finite() {
            self.of_shifts.resize((values - 1) * state.len(), 0.0);
            self.non_finite = 1;
            return;
        }
        by_shift(
            state.iter().copied(),
            &self.written,
            values,
            &mut self.of_shifts,
        );
        self.non_finite = self.of_shifts.iter().map(|d| u64::from(is_wrong(d))).sum();
        if self.non_finite > 0 {
            let wrong = self.of_shifts.iter_mut().filter(|d| is_wrong(d));
            wrong.for_each(|d| *d = f64::NEG_INFINITY);
        }
    }
}

/// No difference can be that.
fn is_wrong(difference: &f64) -> bool {
    difference.is_nan() || *difference == f64::INFINITY
}

/// Appends the differences of sites, `[sites, C]`, in the order of their shifts, `[sites, C - 1]`.
fn by_shift<V: Site>(
    sites: impl Iterator<Item = V>,
    written: &[f64],
    values: usize,
    of_shifts: &mut Vec<f64>,
) {
    if values == 2 {
        let other = |(x, [zero, one]): (V, &[f64; 2])| match x.code() {
            0 => *one,
            _ => *zero,
        };
        return of_shifts.extend(sites.zip(written.as_chunks::<2>().0).map(other));
    }
    for (x, row) in sites.zip(written.chunks_exact(values)) {
        let (below, above) = row.split_at(x.code());
        of_shifts.extend_from_slice(&above[1..]);
        of_shifts.extend_from_slice(below);
    }
}

/// What is known around a state, and around what is proposed from it.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// The values of the state.
    codes: Vec<u32>,
    values: usize,
    here: Differences,
    there: Differences,
    /// Whether ln p of the state is not known any more: the target told its ratio alone.
    ratio_alone: bool,
    /// Whether the target told what is other there; `there` is then not that.
    told: bool,
    /// The sites whose differences are others there, in order, and these differences.
    changed: Vec<usize>,
    changed_differences: Vec<f64>,
}

impl Surroundings {
    /// Whether it is this state.
    pub fn is_of<V: Site>(&self, state: &[V]) -> bool {
        let codes = self.codes.iter().zip(state);
        self.codes.len() == state.len() && codes.fold(true, |is, (c, x)| is & (*c == code(*x)))
    }

    /// Of this state from now on. Returns whether it was that before: nothing is computed then.
    pub fn come_to<V: Site>(&mut self, target: &impl DifferenceTarget<V>, state: &[V]) -> bool {
        // Of no state before the first one.
        if self.values > 0 && self.is_of(state) {
            return true;
        }
        self.codes.clear();
        self.codes.extend(state.iter().map(|x| code(*x)));
        self.values = target.values();
        self.here.look(target, state);
        self.ratio_alone = false;
        false
    }

    /// C, the number of values of a site.
    pub fn values(&self) -> usize {
        self.values
    }

    /// The value of a site.
    pub fn code(&self, site: usize) -> usize {
        self.codes[site] as usize
    }

    /// The differences, `[n, C - 1]`: ln p(x with x_i + s) - ln p(x) for the shifts s = 1, ..., C - 1; -inf for impossible
    /// values. All are 0 where p(x) is zero, as nothing is known of them.
    pub fn differences(&self) -> &[f64] {
        &self.here.of_shifts
    }

    /// Differences that were NaN or +inf, and ln p if it is not finite.
    pub fn non_finite(&self) -> u64 {
        self.here.non_finite
    }

    /// Looks around `to`, which differs from the state `from` at these sites, and returns ln p of both up to a constant, and what
    /// was not finite there.
    pub fn look<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        [from, to]: [&[V]; 2],
        sites: &[usize],
    ) -> ([f64; 2], u64) {
        if let Some(log_p_ratio) = self.ask(target, [from, to], sites) {
            return ([0.0, log_p_ratio], 0);
        }
        if self.ratio_alone {
            self.here.look(target, from);
            self.ratio_alone = false;
        }
        self.there.look(target, to);
        self.find_changed();
        ([self.here.log_p, self.there.log_p], self.there.non_finite)
    }

    /// The sites whose differences are others there, in order.
    pub fn changed(&self) -> &[usize] {
        &self.changed
    }

    /// The differences of these sites there, `[sites, C - 1]`.
    pub fn changed_differences(&self) -> &[f64] {
        &self.changed_differences
    }

    /// Has the target tell what is other there, if it can and all is finite here and there.
    fn ask<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        [from, to]: [&[V]; 2],
        heads: &[usize],
    ) -> Option<f64> {
        self.told = false;
        if self.here.non_finite > 0 {
            return None;
        }
        self.changed.clear();
        self.there.written.clear();
        let (sites, written) = (&mut self.changed, &mut self.there.written);
        let ratio = target.log_density_ratio_and_differences(from, to, heads, sites, written)?;
        self.changed_differences.clear();
        let there = self.changed.iter().map(|site| to[*site]);
        by_shift(
            there,
            &self.there.written,
            self.values,
            &mut self.changed_differences,
        );
        self.told = !self.changed_differences.iter().any(is_wrong);
        self.told.then_some(ratio)
    }

    fn find_changed(&mut self) {
        let shifts = self.values - 1;
        let (here, there) = (&self.here.of_shifts, &self.there.of_shifts);
        self.changed.resize(self.codes.len(), 0);
        let mut count = 0;
        // Without a branch: where many sites change, it would often be taken for the other.
        match shifts {
            1 => {
                for (site, (a, b)) in here.iter().zip(there).enumerate() {
                    self.changed[count] = site;
                    count += usize::from(a != b);
                }
            }
            _ => {
                let rows = here.chunks_exact(shifts).zip(there.chunks_exact(shifts));
                for (site, (a, b)) in rows.enumerate() {
                    self.changed[count] = site;
                    count += usize::from(a != b);
                }
            }
        }
        self.changed.truncate(count);
        self.changed_differences.clear();
        match shifts {
            1 => {
                let own = self.changed.iter().map(|site| there[*site]);
                self.changed_differences.extend(own);
            }
            _ => {
                for site in &self.changed {
                    let own = &there[site * shifts..][..shifts];
                    self.changed_differences.extend_from_slice(own);
                }
            }
        }
    }

    /// Of `to` from now on, around which it has looked, and which differs at these sites.
    pub fn arrive<V: Site>(&mut self, to: &[V], sites: &[usize]) {
        for &site in sites {
            self.codes[site] = code(to[site]);
        }
        if !self.told {
            return std::mem::swap(&mut self.here, &mut self.there);
        }
        self.ratio_alone = true;
        let shifts = self.values - 1;
        for (row, &site) in self.changed.iter().enumerate() {
            let own = &self.changed_differences[row * shifts..][..shifts];
            self.here.of_shifts[site * shifts..][..shifts].copy_from_slice(own);
        }
    }
}

fn code<V: Site>(x: V) -> u32 {
    x.code() as u32
}

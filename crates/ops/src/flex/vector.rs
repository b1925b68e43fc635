//! Numbers in vector registers of whatever width the machine has.

use std::mem::MaybeUninit;
use std::ops::AddAssign;

use pulp::Simd;
use pulp::bytemuck::Pod;

/// Bytes of a panel: 16 columns of f32, 8 of f64, whatever the registers.
pub const PANEL: usize = 64;

/// f32 and f64, as vectors that can be added.
pub trait Number: Pod + Send + Sync + Default + PartialEq + AddAssign {
    /// A register of them.
    type Vector<S: Simd>: Copy + 'static;

    /// a + b.
    fn add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// 0 in every lane.
    fn zero<S: Simd>(simd: S) -> Self::Vector<S>;

    /// From an f32.
    fn of(value: f32) -> Self;
}

impl Number for f32 {
    type Vector<S: Simd> = S::f32s;

    #[inline(always)]
    fn add<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.add_f32s(a, b)
    }

    #[inline(always)]
    fn zero<S: Simd>(simd: S) -> S::f32s {
        simd.splat_f32s(0.0)
    }

    fn of(value: f32) -> Self {
        value
    }
}

impl Number for f64 {
    type Vector<S: Simd> = S::f64s;

    #[inline(always)]
    fn add<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.add_f64s(a, b)
    }

    #[inline(always)]
    fn zero<S: Simd>(simd: S) -> S::f64s {
        simd.splat_f64s(0.0)
    }

    fn of(value: f32) -> Self {
        f64::from(value)
    }
}

/// P registers side by side.
pub type Panel<T, S, const P: usize> = [<T as Number>::Vector<S>; P];

/// A value that begins a cache line, so that no vector of it lies across two: pulp's vectors are aligned as their numbers are.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub struct Line<V>(pub V);

/// Numbers of a panel.
pub const fn lanes<T>() -> usize {
    PANEL / size_of::<T>()
}

#[inline(always)]
pub fn zeros<T: Number, S: Simd, const P: usize>(simd: S) -> Panel<T, S, P> {
    [T::zero(simd); P]
}

#[inline(always)]
pub fn add<T: Number, S: Simd, const P: usize>(
    simd: S,
    a: Panel<T, S, P>,
    b: Panel<T, S, P>,
) -> Panel<T, S, P> {
    std::array::from_fn(|p| T::add(simd, a[p], b[p]))
}

/// The first numbers of `row` as a panel, zeros beyond its end.
#[inline(always)]
pub fn load<T: Number, S: Simd, const P: usize>(simd: S, row: &[T]) -> Panel<T, S, P> {
    const { assert!(size_of::<Panel<T, S, P>>() <= PANEL * 16) };
    let mut panel = zeros::<T, S, P>(simd);
    let room = size_of::<Panel<T, S, P>>() / size_of::<T>();
    if row.len() >= room {
        // SAFETY: a vector is plain numbers, any bits of which are valid, and the row has enough of them.
        unsafe { row.as_ptr().cast::<Panel<T, S, P>>().read_unaligned() }
    } else {
        // SAFETY: the panel has room for `room` numbers, and the row is shorter.
        unsafe {
            std::ptr::copy_nonoverlapping(row.as_ptr(), (&raw mut panel).cast::<T>(), row.len());
        }
        panel
    }
}

/// The panel to `out`, cut off at its end.
#[inline(always)]
pub fn store<T: Number, S: Simd, const P: usize>(
    panel: Panel<T, S, P>,
    out: &mut [MaybeUninit<T>],
) {
    let room = size_of::<Panel<T, S, P>>() / size_of::<T>();
    if out.len() >= room {
        // SAFETY: there is room for a panel, of plain numbers.
        unsafe {
            out.as_mut_ptr()
                .cast::<Panel<T, S, P>>()
                .write_unaligned(panel);
        }
    } else if out.len() == room / 2 {
        // SAFETY: as below; a copy of known length is two or three instructions.
        unsafe { copy(&panel, out, room / 2) }
    } else {
        // SAFETY: the panel has at least as many numbers as `out`.
        unsafe { copy(&panel, out, out.len()) }
    }
}

/// # Safety
/// Both have so many numbers.
#[inline(always)]
unsafe fn copy<T, V>(panel: &V, out: &mut [MaybeUninit<T>], count: usize) {
    let from = (&raw const *panel).cast::<MaybeUninit<T>>();
    // SAFETY: the caller promises the room, and a local panel is not part of `out`.
    unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), count) }
}

/// Registers that sums side by side take: 13 of 16, or of more, and what they add is read from memory.
pub const WIDE: usize = 13;

/// Calls `$run::<S, P>` with as many registers of S as make a panel.
macro_rules! by_registers {
    ($number:ty, $simd:ty, $kernel:ident . $run:ident ($($argument:expr),*)) => {
        match $crate::flex::vector::PANEL
            / size_of::<<$number as $crate::flex::vector::Number>::Vector<$simd>>()
        {
            1 => $kernel.$run::<$simd, 1>($($argument),*),
            2 => $kernel.$run::<$simd, 2>($($argument),*),
            4 => $kernel.$run::<$simd, 4>($($argument),*),
            8 => $kernel.$run::<$simd, 8>($($argument),*),
            _ => $kernel.$run::<$simd, 16>($($argument),*),
        }
    };
}
pub(crate) use by_registers;

//! Resampling into a caller's buffer allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::resampling::*;

/// The system's allocator, counting this thread's requests.
struct Counting;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all requests go to the system's allocator unchanged; counting them neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.with(|n| n.set(n.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn requests(f: impl FnOnce()) -> usize {
    let before = REQUESTS.with(Cell::get);
    f();
    REQUESTS.with(Cell::get) - before
}

#[test]
fn no_scheme_allocates() {
    assert_eq!(
        requests(|| drop(std::hint::black_box(vec![1]))),
        1,
        "the count counts"
    );
    let mut stream = Stream::new(1, Purpose::new("test"), [0, 0]);
    let log_weights: Vec<f64> = (0..1000).map(|_| 9.0 * stream.uniform_f64()).collect();
    let mut ancestors = vec![0; 700];
    let schemes: [Box<dyn Resampler<Stream>>; 6] = [
        Box::new(Multinomial),
        Box::new(MultinomialByChoice),
        Box::new(Stratified),
        Box::new(Systematic),
        Box::new(Residual),
        Box::new(Ssp),
    ];
    for scheme in &schemes {
        let n = requests(|| {
            scheme
                .resample(&log_weights, &mut stream, &mut ancestors)
                .expect("weights");
        });
        assert_eq!(n, 0);
    }
    let conditional: [Box<dyn ConditionalResampler<Stream>>; 3] = [
        Box::new(Multinomial),
        Box::new(Stratified),
        Box::new(Systematic),
    ];
    for scheme in &conditional {
        let n = requests(|| {
            scheme
                .resample_given(5, 6, &log_weights, &mut stream, &mut ancestors)
                .expect("weights");
        });
        assert_eq!(n, 0);
    }
    assert!(!Policy::EssBelow(0.01).wants(&log_weights));
}

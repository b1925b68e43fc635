//! The largest request to the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which remembers the largest request.
struct Remembering;

// SAFETY: all requests go to the system's allocator unchanged; remembering their size neither allocates nor unwinds.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Remembering = Remembering;

/// From now on.
pub fn forget() {
    LARGEST.store(0, Ordering::Relaxed);
}

/// In bytes, since then.
pub fn seen() -> usize {
    LARGEST.load(Ordering::Relaxed)
}

/// Panics where a large request is not seen. No test of its own: what one test asks for, the others of its process see.
pub fn proved() {
    forget();
    drop(std::hint::black_box(vec![0u8; 300 << 20]));
    assert!(seen() >= 300 << 20);
}

//! The largest request to the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Remembering;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all requests go to the system's allocator unchanged; remembering one neither allocates nor unwinds.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no such cell any more.
        let _ = LARGEST.try_with(|n| n.set(n.get().max(layout.size())));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Remembering = Remembering;

/// The largest request of this thread during `f`, in bytes.
pub fn largest(f: impl FnOnce()) -> usize {
    LARGEST.with(|n| n.set(0));
    f();
    LARGEST.with(Cell::get)
}

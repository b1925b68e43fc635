//! The file operations behind run folders and chain stores.
//!
//! Every change to a file or a folder goes through this crate, for three reasons:
//!
//! * **Crash states can be enumerated.** An [`Observer`] is told of each [`Op`] before it is done. A recording one gives the
//!   log from which `helmholtz-crashes` builds every state that a crash could leave; another one injects faults.
//! * **Links are never followed.** Files are opened with `O_NOFOLLOW` or created new; a link at a name of ours is refused.
//! * **One lock for all file systems.** [`Lock`] combines `flock` with a file that is created exclusively and renewed.
//!
//! ```
//! # let home = tempfile::tempdir().unwrap();
//! # let folder = home.path();
//! use helmholtz_files::{File, rename, sync_directory};
//!
//! let mut file = File::create_new(&folder.join(".tmp-a"))?;
//! file.write_at(0, b"text")?;
//! file.sync()?;
//! rename(&folder.join(".tmp-a"), &folder.join("a"))?;
//! sync_directory(folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Contents: [`File`], [`replace`](replace()), [`create_directories`], [`rename`], [`remove`], [`read`], [`names`], [`sync_directory`], [`Op`],
//! [`Observer`], [`observe`], [`Lock`], [`Holder`], [`remedy`], [`now`].

mod clock;
mod directories;
mod file;
mod holder;
mod lock;
mod observer;
mod remedy;
mod replace;
mod timing;

pub use clock::now;
pub use directories::{
    create_directories, create_directory, names, remove, rename, sync_directory,
};
pub use file::{File, is_link, read};
pub use holder::Holder;
pub use lock::{Lock, LockError, holder_of, is_lock_name};
pub use observer::{Observed, Observer, Op, Verdict, observe};
pub use remedy::remedy;
pub use replace::{SCRATCH, replace, replace_shared, write_synced};
pub use timing::Timing;

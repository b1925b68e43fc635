//! The program itself: what a command prints, writes, keeps and refuses. One test binary, since linking takes longer than most of them.

mod apg;
mod arm_toy;
mod cli;
mod evaluate;
mod few;
mod figures;
mod findings;
mod npy;
mod own_data;
mod recorded;
mod records;
mod report;
mod shell;
mod support;
mod tables;
mod trouble;
mod variance;

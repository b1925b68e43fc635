//! Uniforms of rows that belong to several data.

use helmholtz_distributions::Noise;

/// One source of noise a datum: row n of a draw comes from that of datum `n mod batch`.
pub struct Interleaved<'a, N> {
    pub streams: &'a mut [N],
    pub rows: usize,
}

impl<N: Noise> Noise for Interleaved<'_, N> {
    fn fill(&mut self, out: &mut [f32]) {
        let width = out.len() / self.rows;
        let batch = self.streams.len();
        for (n, row) in out.chunks_exact_mut(width).enumerate() {
            self.streams[n % batch].fill(row);
        }
    }
}

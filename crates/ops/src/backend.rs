//! The extension traits: burn's backend with our operations, and its differentiable form.

pub(crate) mod portable;
pub(crate) mod special;

use std::ops::Range;

use burn::tensor::DType;
use burn::tensor::ops::{FloatTensor, IntTensor};

use crate::{
    Activation, AdamStep, AdditiveGradients, LinearGradients, OwnNormalGradients,
    PerceptronGradients, Pieces,
};

/// A burn backend with our fused operations. Each default is the portable definition in plain tensor operations; it
/// works in the dtype of its arguments and on nested autodiff backends.
///
/// The methods work on tensor primitives; [the functions of this crate](crate) are their form for tensors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no fused operations of helmholtz-ops",
    label = "is not a `helmholtz_ops::Backend`",
    note = "for burn's CPU backend `Flex` switch on the feature `flex` of the helmholtz crate that you depend on; it is on by default",
    note = "a backend must be of burn 0.21, which every helmholtz crate re-exports as `burn`"
)]
pub trait Backend: burn::tensor::backend::Backend {
    /// Whether bits are better packed into words ([`PackedBits`](crate::PackedBits)) than kept as numbers: where products of packed
    /// bits have a kernel of their own.
    const PACKS_BITS: bool = false;

    /// The numbers above ½ of `[N, D]` as packed bits `[N, ⌈D/32⌉]` of u32.
    fn pack_bits(values: FloatTensor<Self>) -> IntTensor<Self> {
        portable::pack_bits::<Self>(values)
    }

    /// Packed bits as numbers 0 and 1 `[N, columns]` of this dtype.
    fn unpack_bits(words: IntTensor<Self>, columns: usize, dtype: DType) -> FloatTensor<Self> {
        portable::unpack_bits::<Self>(words, columns, dtype)
    }

    /// Some of the columns of packed bits, packed.
    fn bit_columns(words: IntTensor<Self>, columns: usize, range: Range<usize>) -> IntTensor<Self> {
        portable::bit_columns::<Self>(words, columns, range)
    }

    /// [`Backend::sample_bernoulli`], packed.
    fn sample_bits(logits: FloatTensor<Self>, uniforms: FloatTensor<Self>) -> IntTensor<Self> {
        Self::pack_bits(Self::sample_bernoulli(logits, uniforms))
    }

    /// [`Backend::bernoulli_log_prob`] of packed bits.
    fn bit_bernoulli_log_prob(
        logits: FloatTensor<Self>,
        words: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        let values = portable::unpack_like::<Self>(words, &logits, 1);
        Self::bernoulli_log_prob(logits, values)
    }

    /// [`Backend::bernoulli_log_prob_and_residual`] of packed bits.
    fn bit_bernoulli_log_prob_and_residual(
        logits: FloatTensor<Self>,
        words: IntTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let values = portable::unpack_like::<Self>(words, &logits, 1);
        Self::bernoulli_log_prob_and_residual(logits, values)
    }

    /// x W + b for packed bits x of N rows and I columns, W `[I, O]`, b `[O]`: `[N, O]`.
    ///
    /// On the CPU by tables of the sums of four rows of W, as sums of the rows of W whose bits are set, or as numbers. The quickest is
    /// chosen, by the shape and by how many bits are set.
    fn bit_linear(
        words: IntTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let x = portable::unpack_like::<Self>(words, &weight, 0);
        Self::fused_linear(x, weight, bias)
    }

    /// The gradients of [`Backend::bit_linear`] in W and b, xᵀ g `[I, O]` and Σ_n g `[O]`, for x of `columns` = I columns and the
    /// output's gradient g `[N, O]`.
    fn bit_linear_backward(
        words: IntTensor<Self>,
        columns: usize,
        grad: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 2] {
        portable::bit_linear_backward::<Self>(words, columns, grad)
    }

    /// Rows of Σ_d v·a − softplus(a) for logits a `[M, D]` and values v `[M', D]`, broadcast cyclically to `N` rows: `[N]`.
    fn bernoulli_log_prob(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::bernoulli_log_prob::<Self>(logits, values)
    }

    /// [`Backend::bernoulli_log_prob`] together with its derivative in the logits, v − σ(a): `([N], [N, D])`.
    fn bernoulli_log_prob_and_residual(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        portable::bernoulli_log_prob_and_residual::<Self>(logits, values)
    }

    /// Rows of Σ_d v ln(ρ + ε) + (1 − v) ln(1 − ρ + ε), ρ cut off at 0 and 1: `[N]`. The means ρ `[M, D]` and values v `[M', D]`
    /// are broadcast cyclically to `N` rows.
    fn bernoulli_mean_log_prob(
        means: FloatTensor<Self>,
        values: FloatTensor<Self>,
        floor: f64,
    ) -> FloatTensor<Self> {
        portable::bernoulli_mean_log_prob::<Self>(means, values, floor)
    }

    /// [`Backend::bernoulli_mean_log_prob`] together with its derivative in the means, v / (ρ + ε) − (1 − v) / (1 − ρ + ε), and 0
    /// where ρ is cut off: `([N], [N, D])`.
    fn bernoulli_mean_log_prob_and_slope(
        means: FloatTensor<Self>,
        values: FloatTensor<Self>,
        floor: f64,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        portable::bernoulli_mean_log_prob_and_slope::<Self>(means, values, floor)
    }

    /// Rows of Σ_v z·φ − ln Σ_c e^φ_c, the logit of the first of the C classes of each variable being 0: `[N]`. The logits φ
    /// `[M, V (C − 1)]` and values z `[M', V C]`, both variable by variable, are broadcast cyclically to `N` rows.
    fn categorical_log_prob(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        portable::categorical_log_prob::<Self>(logits, values, classes)
    }

    /// [`Backend::categorical_log_prob`] together with its derivative in the logits, z − softmax(φ) without the first
    /// classes: `([N], [N, V (C − 1)])`.
    fn categorical_log_prob_and_residual(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        classes: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        portable::categorical_log_prob_and_residual::<Self>(logits, values, classes)
    }

    /// ln softmax(φ) of each variable, the first classes too, for logits `[N, V (C − 1)]`: `[N, V C]`.
    fn categorical_log_probabilities(
        logits: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        portable::categorical_log_probabilities::<Self>(logits, classes)
    }

    /// The gradient of [`Backend::categorical_log_probabilities`] from its **output** y: g − e^y Σ_c g without the first classes.
    fn categorical_log_probabilities_backward(
        output: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        portable::categorical_log_probabilities_backward::<Self>(output, grad, classes)
    }

    /// The one-hot value of each variable's largest entry, the first of several, for entries `[N, V C]`.
    fn largest_classes(entries: FloatTensor<Self>, classes: usize) -> FloatTensor<Self> {
        portable::largest_classes::<Self>(entries, classes)
    }

    /// [`Backend::largest_classes`] of φ − ln π with two entries of ln π swapped in every variable, for each of P pairs of classes. For
    /// logits φ `[M, V C]`, repeated cyclically, and logarithms ln π `[N, V C]`: `[P N, V C]`, one pair after the other.
    fn swapped_classes(
        logits: FloatTensor<Self>,
        logarithms: FloatTensor<Self>,
        classes: usize,
        pairs: &[(usize, usize)],
    ) -> FloatTensor<Self> {
        portable::swapped_classes::<Self>(logits, logarithms, classes, pairs)
    }

    /// Moves from classes z to drawn classes z', one variable a row. For all logits φ `[N, C]`, uniforms in [0, 1) `[N]` and one-hot
    /// z `[N, C]`: z' `[N, C]` as [`Backend::sample_categorical`] has it, z'·ln softmax(φ) `[N]` and z·ln softmax(φ) `[N]`.
    ///
    /// Differentiable in φ is the second alone.
    fn categorical_move(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
        from: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3] {
        portable::categorical_move::<Self>(logits, uniforms, from)
    }

    /// [`Backend::categorical_move`] together with the derivative z' − softmax(φ) `[N, C]`.
    fn categorical_move_and_residual(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
        from: FloatTensor<Self>,
    ) -> ([FloatTensor<Self>; 3], FloatTensor<Self>) {
        portable::categorical_move_and_residual::<Self>(logits, uniforms, from)
    }

    /// Σ over the rows n ≡ m (mod M) of weight_n · row_n, for weights `[N]` and rows `[N, D]`: `[M, D]`. The adjoint of
    /// the cyclic broadcast. A zero weight contributes exactly zero, whatever its row holds.
    fn fold_rows(
        weights: FloatTensor<Self>,
        rows: FloatTensor<Self>,
        folded: usize,
    ) -> FloatTensor<Self> {
        portable::fold_rows::<Self>(weights, rows, folded)
    }

    /// 1 where u < σ(a), else 0, for logits `[M, D]` and uniforms in [0, 1) `[N, D]`: `[N, D]` in the logits' dtype.
    fn sample_bernoulli(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::sample_bernoulli::<Self>(logits, uniforms)
    }

    /// One-hot classes c with F(c − 1) ≤ u < F(c), F the cumulative probabilities, for logits `[M, V (C − 1)]` and uniforms
    /// in [0, 1) `[N, V]`: `[N, V C]` in the logits' dtype.
    fn sample_categorical(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        portable::sample_categorical::<Self>(logits, uniforms, classes)
    }

    /// x W + b for x `[N, I]`, W `[I, O]`, b `[O]`: `[N, O]`.
    fn fused_linear(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::linear::<Self>(x, weight, bias)
    }

    /// The gradients of [`Backend::fused_linear`] for the output's gradient g `[N, O]`: g Wᵀ `[N, I]` if W is given, and
    /// (xᵀ g `[I, O]`, Σ_n g `[O]`) if x is given.
    fn fused_linear_backward(
        x: Option<FloatTensor<Self>>,
        weight: Option<FloatTensor<Self>>,
        grad: FloatTensor<Self>,
    ) -> LinearGradients<Self> {
        portable::linear_backward::<Self>(x, weight, grad)
    }

    /// Σ_h w_h f(q_nh + k_mh) for queries `[R, N, H]`, keys `[G, M, H]` and weights `[H]`, the queries broadcast cyclically
    /// to G groups: `[G, N, M]`.
    fn additive_scores(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        portable::additive_scores::<Self>(queries, keys, weights, activation)
    }

    /// The gradients of [`Backend::additive_scores`] for the scores' gradient `[G, N, M]`.
    fn additive_scores_backward(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        activation: Activation,
        grad: FloatTensor<Self>,
    ) -> AdditiveGradients<Self> {
        portable::additive_scores_backward::<Self>(queries, keys, weights, activation, grad)
    }

    /// f(x W + b) V + c for x `[N, I]` and the weights W `[I, H]`, b `[H]`, V `[H, O]`, c `[O]`: `[N, O]`.
    fn perceptron(
        x: FloatTensor<Self>,
        weights: [FloatTensor<Self>; 4],
        activation: Activation,
    ) -> FloatTensor<Self> {
        portable::perceptron::<Self>(x, weights, activation)
    }

    /// The gradients of [`Backend::perceptron`] for the output's gradient `[N, O]`; that in x only if asked for.
    fn perceptron_backward(
        x: FloatTensor<Self>,
        weights: [FloatTensor<Self>; 4],
        activation: Activation,
        grad: FloatTensor<Self>,
        of_input: bool,
    ) -> PerceptronGradients<Self> {
        portable::perceptron_backward::<Self>(x, weights, activation, grad, of_input)
    }

    /// Σ_n (Σ_h V_ho f(w_h x_np + c_sh) + b_o), f the rectifier of this slope below 0, at points x `[N, P]` of curves s `[N]`, summed
    /// over the rows n of the same n mod R: `[O, R, P]`. The weights are w `[H]`, c `[C, H]`, V `[H, O]`, b `[O]`.
    fn linear_splines(
        points: FloatTensor<Self>,
        curves: &[usize],
        sums: usize,
        weights: [FloatTensor<Self>; 4],
        slope: f64,
    ) -> FloatTensor<Self> {
        portable::linear_splines::<Self>(points, curves, sums, weights, slope)
    }

    /// The gradients of [`Backend::linear_splines`] for the output's gradient `[O, R, P]`: in w, c, V and b, and in x if asked for.
    fn linear_splines_backward(
        points: FloatTensor<Self>,
        curves: &[usize],
        sums: usize,
        weights: [FloatTensor<Self>; 4],
        slope: f64,
        grad: FloatTensor<Self>,
        of_points: bool,
    ) -> PerceptronGradients<Self> {
        portable::linear_splines_backward::<Self>(
            points, curves, sums, weights, slope, grad, of_points,
        )
    }

    /// Σ_n γ_nm (1, v_n) with γ_n the softmax of logits `[G, N, M]`, values v `[G, N, D]`: `[G, M, 1 + D]`.
    fn softmax_sums(logits: FloatTensor<Self>, values: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::softmax_sums::<Self>(logits, values)
    }

    /// The gradients of [`Backend::softmax_sums`] in logits and values for the output's gradient g: with a_nm = g_m·(1, v_n),
    /// γ_nm (a_nm − Σ_k γ_nk a_nk) and Σ_m γ_nm g_m.
    fn softmax_sums_backward(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 2] {
        portable::softmax_sums_backward::<Self>(logits, values, grad)
    }

    /// Σ_p w_lp γ_pm (1, t_p, t_p²) with γ_p the softmax of logits `[B, P, M]`, values t `[B, P, D]`, weights w `[L, B, P]`:
    /// `[L, B, M, 1 + 2 D]`.
    fn softmax_moments(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        present: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::softmax_moments::<Self>(logits, values, present)
    }

    /// The gradients of [`Backend::softmax_moments`] in logits and values for the output's gradient g. With G_pm = Σ_l w_lp g_lm and
    /// a_pm = G_pm·(1, t_p, t_p²), that is γ_pm (a_pm − Σ_k γ_pk a_pk) and Σ_m γ_pm (G_pm' + 2 t_p ∘ G_pm''), G' being of the values
    /// and G'' of their squares.
    fn softmax_moments_backward(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        present: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 2] {
        portable::softmax_moments_backward::<Self>(logits, values, present, grad)
    }

    /// Σ_m z_nm Σ_d log N(x_nd; μ_md, 1/τ_md): [`Backend::normal_log_probs`] of each datum under its own normal, for one-hot z
    /// `[G, N, M]`: `[G, N]`.
    fn own_normal_log_probs(
        values: FloatTensor<Self>,
        classes: FloatTensor<Self>,
        means: FloatTensor<Self>,
        precisions: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::own_normal_log_probs::<Self>(values, classes, means, precisions)
    }

    /// Rows `[R, S]`, broadcast cyclically to G groups, with weight · the group's pieces of sources `[T, P]`, also in turn: `[G, S]`.
    fn add_pieces(
        rows: FloatTensor<Self>,
        sources: FloatTensor<Self>,
        pieces: &Pieces,
        weight: f64,
    ) -> FloatTensor<Self> {
        portable::add_pieces::<Self>(rows, sources, pieces, weight)
    }

    /// The gradient of [`Backend::add_pieces`] in sources of this shape: weight · what of the output's gradient `[G, S]` lies where the
    /// pieces do.
    fn add_pieces_backward(
        grad: FloatTensor<Self>,
        sources: [usize; 2],
        pieces: &Pieces,
        weight: f64,
    ) -> FloatTensor<Self> {
        portable::add_pieces_backward::<Self>(grad, sources, pieces, weight)
    }

    /// The softmax y of each row of x / τ, for x `[N, D]` and τ `[1, 1]`.
    fn softmax_rows(x: FloatTensor<Self>, temperature: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::softmax_rows::<Self>(x, temperature)
    }

    /// The gradients of [`Backend::softmax_rows`] in x and τ, with its **output** y: g_x = y ∘ (g − Σ y g) / τ and
    /// −Σ g_x ∘ x / τ, the second where x is given.
    fn softmax_rows_backward(
        x: Option<FloatTensor<Self>>,
        temperature: FloatTensor<Self>,
        output: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, Option<FloatTensor<Self>>) {
        portable::softmax_rows_backward::<Self>(x, temperature, output, grad)
    }

    /// y = 1 / (1 + e⁻ˣ) of a vector.
    fn fused_sigmoid(x: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::sigmoid::<Self>(x)
    }

    /// The gradient of [`Backend::fused_sigmoid`] from its **output**: g y (1 − y).
    fn fused_sigmoid_backward(
        output: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::sigmoid_backward::<Self>(output, grad)
    }

    /// The columns of all parts `[N_i, D_i]`, one part after the other, rows broadcast cyclically: `[N, Σ D_i]`.
    fn side_by_side(parts: Vec<FloatTensor<Self>>) -> FloatTensor<Self> {
        portable::side_by_side::<Self>(parts)
    }

    /// The gradients of [`Backend::own_normal_log_probs`] in values, means and precisions for the output's gradient g `[G, N]`, those in
    /// values only if asked for. With w_nm = g_n z_nm and δ = x_nd − μ_md they are −Σ_m w τ δ, Σ_n w τ δ and ½ Σ_n w (1/τ − δ²).
    fn own_normal_log_probs_backward(
        values: FloatTensor<Self>,
        classes: FloatTensor<Self>,
        normals: [FloatTensor<Self>; 2],
        grad: FloatTensor<Self>,
        of_values: bool,
    ) -> OwnNormalGradients<Self> {
        portable::own_normal_log_probs_backward::<Self>(values, classes, normals, grad, of_values)
    }

    /// x_n − Σ_m z_nm μ_m for values x `[R, N, D]`, one-hot z `[G, N, M]`, centres μ `[G, M, D]`, the values broadcast cyclically to G
    /// groups: `[G, N, D]`.
    fn own_differences(
        values: FloatTensor<Self>,
        classes: FloatTensor<Self>,
        centres: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::own_differences::<Self>(values, classes, centres)
    }

    /// ln Gamma(τ; α, β) + ln N(μ; μ₀, 1 / (ν τ)) of vectors: (μ₀, ν, α, β) and (μ, τ).
    fn normal_gamma_log_prob(
        parameters: [FloatTensor<Self>; 4],
        value: [FloatTensor<Self>; 2],
    ) -> FloatTensor<Self> {
        portable::normal_gamma_log_prob::<Self>(parameters, value)
    }

    /// The gradients of [`Backend::normal_gamma_log_prob`], with δ = μ − μ₀: in (μ₀, ν, α, β) they are ν τ δ, 1/(2ν) − τ δ²/2,
    /// ln β − ψ(α) + ln τ and α/β − τ; in (μ, τ) −ν τ δ and (α − ½)/τ − β − ν δ²/2, times the output's.
    fn normal_gamma_log_prob_backward(
        parameters: [FloatTensor<Self>; 4],
        value: [FloatTensor<Self>; 2],
        grad: FloatTensor<Self>,
    ) -> ([FloatTensor<Self>; 4], [FloatTensor<Self>; 2]) {
        portable::normal_gamma_log_prob_backward::<Self>(parameters, value, grad)
    }

    /// −½ ((x − μ) / σ)² − ln σ − ½ ln 2π for means μ, standard deviations σ and values x, all `[N]`: `[N]`.
    fn normal_log_prob(
        mean: FloatTensor<Self>,
        deviation: FloatTensor<Self>,
        x: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::normal_log_prob::<Self>(mean, deviation, x)
    }

    /// The gradients of [`Backend::normal_log_prob`], with z = (x − μ) / σ: z/σ in μ, (z² − 1)/σ in σ and −z/σ in x, times the
    /// output's.
    fn normal_log_prob_backward(
        mean: FloatTensor<Self>,
        deviation: FloatTensor<Self>,
        x: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3] {
        portable::normal_log_prob_backward::<Self>([mean, deviation, x], grad)
    }

    /// The parameters of normal-gamma laws given moments, see [`crate::normal_gamma_posterior`]: `[4, R, D]`.
    fn normal_gamma_posterior(
        prior: [f64; 4],
        moments: FloatTensor<Self>,
        dimensions: usize,
    ) -> FloatTensor<Self> {
        portable::normal_gamma_posterior::<Self>(prior, moments, dimensions)
    }

    /// The gradient of [`Backend::normal_gamma_posterior`] in the moments for those g of the parameters. With x̄ = μ₀ + (S₃ − S₁ μ₀)/ν'
    /// it is g_μ/ν' in S₂, −g_β x̄ in S₃, g_β/2 in S₄, and in S₁ the sum over dimensions of g_ν + g_α/2 + g_β x̄²/2 − g_μ μ₀'/ν'.
    fn normal_gamma_posterior_backward(
        prior: [f64; 4],
        moments: FloatTensor<Self>,
        dimensions: usize,
        grad: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::normal_gamma_posterior_backward::<Self>(prior, moments, dimensions, grad)
    }

    /// Σ_d log N(x_nd; μ_md, 1/τ_md) for values x `[R, N, D]`, means μ and precisions τ `[G, M, D]`, the values broadcast
    /// cyclically to G groups: `[G, N, M]`.
    fn normal_log_probs(
        values: FloatTensor<Self>,
        means: FloatTensor<Self>,
        precisions: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::normal_log_probs::<Self>(values, means, precisions)
    }

    /// Σ_ij k[i, j] e[r + i, c + j] for images e `[R, H, W]` and templates k `[S, P, Q]`, the fewer broadcast cyclically to G
    /// pairs: `[G, H − P + 1, W − Q + 1]`.
    fn cross_correlation(
        images: FloatTensor<Self>,
        templates: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::cross_correlation::<Self>(images, templates)
    }

    /// t = f(x), elementwise.
    fn fused_activation(x: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        portable::activation::<Self>(x, activation)
    }

    /// The gradient of [`Backend::fused_activation`] from its **output** t: grad · (1 − t²) of tanh; grad · (1 where t > 0, else slope)
    /// of a rectifier (slope ≥ 0 keeps the sign).
    fn fused_activation_backward(
        output: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        portable::activation_backward::<Self>(output, grad, activation)
    }

    /// exp(min(max(x, −bound), bound)) of a vector.
    fn bounded_exp(x: FloatTensor<Self>, bound: f64) -> FloatTensor<Self> {
        portable::bounded_exp::<Self>(x, bound)
    }

    /// The gradient of [`Backend::bounded_exp`]: eˣ where |x| ≤ bound, and 0 elsewhere, times the output's.
    fn bounded_exp_backward(
        x: FloatTensor<Self>,
        bound: f64,
        grad: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::bounded_exp_backward::<Self>(x, bound, grad)
    }

    /// ln(min(max(x, low), high)) of a vector.
    fn bounded_log(x: FloatTensor<Self>, low: f64, high: f64) -> FloatTensor<Self> {
        portable::bounded_log::<Self>(x, low, high)
    }

    /// The values, with the gradient of the carrier beside their own; without a tape, the values.
    fn with_gradient_of(
        values: FloatTensor<Self>,
        _carrier: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        values
    }

    /// (a − 1) ln x + (b − 1) ln(1 − x) − ln B(a, b) of vectors a, b > 0 and 0 < x < 1.
    fn beta_log_prob(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        x: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::beta_log_prob::<Self>(a, b, x)
    }

    /// The gradients of [`Backend::beta_log_prob`] in a, b and x: ln x − ψ(a) + ψ(a + b), ln(1 − x) − ψ(b) + ψ(a + b) and
    /// (a − 1) / x − (b − 1) / (1 − x), times the output's.
    fn beta_log_prob_backward(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        x: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3] {
        portable::beta_log_prob_backward::<Self>(a, b, x, grad)
    }

    /// ‖x_n‖² of each row of x `[N, D]`: `[N]`.
    fn squared_norms(x: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::squared_norms::<Self>(x)
    }

    /// The gradient of [`Backend::squared_norms`], 2 g_n x_n `[N, D]`.
    fn squared_norms_backward(x: FloatTensor<Self>, grad: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::squared_norms_backward::<Self>(x, grad)
    }

    /// y_n = x_n / √(‖x_n‖² + ε) of each row of x `[N, D]`.
    fn directions(x: FloatTensor<Self>, epsilon: f64) -> FloatTensor<Self> {
        portable::directions::<Self>(x, epsilon)
    }

    /// The gradient of [`Backend::directions`], (g_n − y_n (y_n·g_n)) / √(‖x_n‖² + ε).
    fn directions_backward(
        x: FloatTensor<Self>,
        epsilon: f64,
        grad: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        portable::directions_backward::<Self>(x, epsilon, grad)
    }

    /// ln Γ(x) of a vector, for x > 0; its derivative is [`Backend::digamma`].
    fn log_gamma(x: FloatTensor<Self>) -> FloatTensor<Self> {
        special::log_gamma::<Self>(x)
    }

    /// ψ(x) = d ln Γ(x) / dx of a vector, for x > 0; its derivative is [`Backend::trigamma`].
    fn digamma(x: FloatTensor<Self>) -> FloatTensor<Self> {
        special::digamma::<Self>(x)
    }

    /// ψ'(x) of a vector, for x > 0.
    fn trigamma(x: FloatTensor<Self>) -> FloatTensor<Self> {
        special::trigamma::<Self>(x)
    }

    /// One Adam update: the new parameter and moments `(θ, m, v)`, all of one shape.
    fn adam(
        parameter: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        portable::adam::<Self>(parameter, grad, moment_1, moment_2, step)
    }
}

/// A differentiable backend with our operations, over an inner backend that has them too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a differentiable backend of helmholtz-ops",
    label = "is not a `helmholtz_ops::AutodiffBackend`",
    note = "wrap the backend: `burn::backend::Autodiff<Flex>`",
    note = "for burn's CPU backend `Flex` switch on the feature `flex` of the helmholtz crate that you depend on; it is on by default",
    note = "a backend must be of burn 0.21, which every helmholtz crate re-exports as `burn`"
)]
pub trait AutodiffBackend:
    Backend + burn::tensor::backend::AutodiffBackend<InnerBackend: Backend>
{
}

impl<B> AutodiffBackend for B where
    B: Backend + burn::tensor::backend::AutodiffBackend<InnerBackend: Backend>
{
}

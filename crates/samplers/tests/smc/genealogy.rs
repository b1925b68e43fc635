//! Ancestor indices and states tell the same story.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::{Ancestry, Population, Smc};

/// Each particle notes its own index in every generation, and copies carry the notes on.
fn lineages_are_what_particles_remember(resampler: impl Resampler<Stream>, seed: u64) {
    let n = 20;
    let mut stream = Stream::new(seed, Purpose::new("test"), [0, 0]);
    let mut population =
        Population::new((0..n).map(|i| vec![i]).collect(), vec![0.0; n as usize]).expect("weights");
    let smc = Smc::new(resampler, Policy::EssBelow(0.9)).expect("a policy");
    let mut ancestry = Ancestry::new(n as usize);
    let (mut resampled, mut log_evidence) = (0, 0.0);
    for _ in 0..200 {
        let mut slot = 0;
        let info = smc
            .step(&mut population, &mut stream, |memory, stream| {
                memory.push(slot);
                slot += 1;
                stream.uniform_f64()
            })
            .expect("weights");
        resampled += usize::from(info.ancestors.is_some());
        log_evidence += info.log_increment;
        ancestry.push(info.ancestors).expect("ancestors");
    }
    assert!(
        (50..150).contains(&resampled),
        "{resampled} resamplings of 200"
    );
    assert!((log_evidence - population.log_evidence()).abs() < 1e-9);
    for ((i, memory), root) in (0..).zip(population.states()).zip(ancestry.roots()) {
        assert_eq!(ancestry.lineage(i).as_ref(), Some(memory));
        assert_eq!(root, memory[0]);
    }
}

#[test]
fn after_many_resamplings_a_lineage_is_what_the_particle_remembers() {
    let schemes: [Box<dyn Resampler<Stream>>; 5] = [
        Box::new(Multinomial),
        Box::new(Stratified),
        Box::new(Systematic),
        Box::new(Residual),
        Box::new(Ssp),
    ];
    for (seed, scheme) in (41..).zip(schemes) {
        lineages_are_what_particles_remember(scheme, seed);
    }
}

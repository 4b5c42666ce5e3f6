//! Properties over generated input. In tests they see the same few hundred cases each time; `FUZZ_SECONDS=600` (`make
//! fuzz`) makes each go on for that time from a seed of its own, which is printed, and `FUZZ_SEED` gives one again.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

pub use proptest;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

/// Cases between two looks at the clock, and in a test.
const CASES: u32 = 256;

/// Fails with the smallest input found for which `property` does not hold, or panics.
pub fn holds<S: Strategy>(name: &str, inputs: &S, property: impl Fn(S::Value) -> TestCaseResult) {
    let number = |variable: &str| env::var(variable).ok().and_then(|text| text.parse::<u64>().ok());
    let limit = number("FUZZ_SECONDS").map(Duration::from_secs);
    let seed = number("FUZZ_SEED").unwrap_or_else(|| {
        if limit.is_some() {
            RandomState::new().hash_one(name)
        } else {
            1
        }
    });
    let (begin, mut cases) = (Instant::now(), 0);
    for round in seed.. {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&round.to_le_bytes());
        let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        if let Err(failure) = runner.run(inputs, &property) {
            panic!("{name}, FUZZ_SEED={round}: {failure}");
        }
        cases += u64::from(CASES);
        if limit.is_none_or(|limit| begin.elapsed() >= limit) {
            break;
        }
    }
    if limit.is_some() {
        println!(
            "{name}: held in {cases} cases, {:.0} s, FUZZ_SEED={seed}",
            begin.elapsed().as_secs_f64()
        );
    }
}

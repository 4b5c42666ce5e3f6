//! Think time: how long a VU of a closed model rests between two iterations.

use std::time::Duration;

use rand::{rngs::SmallRng, Rng, SeedableRng};

/// The distribution of think times, in seconds; a mean of 0 is no think time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThinkTime {
    Constant {
        mean_s: f64,
    },
    /// Memoryless: usual in queueing theory, and what many independent users look like.
    Exponential {
        mean_s: f64,
    },
    /// 0 ≤ `min_s` ≤ `max_s`.
    Uniform {
        min_s: f64,
        max_s: f64,
    },
}

impl ThinkTime {
    pub fn mean_s(self) -> f64 {
        match self {
            Self::Constant { mean_s } | Self::Exponential { mean_s } => mean_s,
            Self::Uniform { min_s, max_s } => 0.5 * (min_s + max_s),
        }
    }

    fn draw_s(self, rng: &mut SmallRng) -> f64 {
        match self {
            Self::Constant { mean_s } => mean_s,
            Self::Exponential { mean_s } => mean_s * exponential(rng),
            Self::Uniform { min_s, max_s } => min_s + (max_s - min_s) * rng.random::<f64>(),
        }
    }

    /// What is left of a think time at a random moment: the equilibrium distribution of renewal theory, which is uniform
    /// within a think time that was met with a chance in proportion to its length (Cox 1962, §5.4).
    fn rest_s(self, rng: &mut SmallRng) -> f64 {
        let met_s = match self {
            Self::Constant { mean_s } => mean_s,
            Self::Exponential { mean_s } => return mean_s * exponential(rng),
            Self::Uniform { min_s, max_s } => {
                (min_s * min_s + (max_s * max_s - min_s * min_s) * rng.random::<f64>()).sqrt()
            }
        };
        met_s * rng.random::<f64>()
    }
}

pub(crate) fn exponential(rng: &mut SmallRng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

/// The think times of one VU, drawn from a stream of its own.
#[derive(Clone, Debug)]
pub struct Thinking {
    think_time: ThinkTime,
    rng: SmallRng,
}

impl Thinking {
    /// `vu` tells the VUs of a run apart.
    pub fn new(think_time: ThinkTime, seed: u64, vu: u64) -> Self {
        Self {
            think_time,
            rng: SmallRng::seed_from_u64(
                seed ^ vu.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            ),
        }
    }

    /// The rest before a VU's first iteration: it joins in the middle of a think time, so that VUs that start together
    /// do not move in step.
    pub fn first(&mut self) -> Duration {
        Duration::from_secs_f64(self.think_time.rest_s(&mut self.rng))
    }

    /// The rest between two iterations.
    pub fn between(&mut self) -> Duration {
        Duration::from_secs_f64(self.think_time.draw_s(&mut self.rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ThinkTime; 3] = [
        ThinkTime::Constant { mean_s: 4.0 },
        ThinkTime::Exponential { mean_s: 4.0 },
        ThinkTime::Uniform { min_s: 2.0, max_s: 6.0 },
    ];

    fn mean(count: u64, mut value: impl FnMut() -> Duration) -> f64 {
        (0..count).map(|_| value().as_secs_f64()).sum::<f64>() / count as f64
    }

    #[test]
    fn think_times_have_their_stated_mean() {
        for think_time in ALL {
            let mut thinking = Thinking::new(think_time, 1, 0);
            let found = mean(100_000, || thinking.between());
            assert!(
                (found - 4.0).abs() < 0.05 && think_time.mean_s() == 4.0,
                "{think_time:?}: {found}"
            );
        }
    }

    #[test]
    fn a_first_rest_has_the_mean_of_the_equilibrium_distribution() {
        // E[X²] / 2E[X]: 16/8, 32/8 and (16 + 16/12)/8.
        for (think_time, wanted) in ALL.into_iter().zip([2.0, 4.0, 2.0 + 1.0 / 6.0]) {
            let mut thinking = Thinking::new(think_time, 1, 0);
            let found = mean(100_000, || thinking.first());
            assert!((found - wanted).abs() < 0.05, "{think_time:?}: {found}");
        }
    }

    #[test]
    fn each_vu_has_a_stream_of_its_own_that_the_seed_repeats() {
        let draw = |seed, vu| Thinking::new(ALL[1], seed, vu).between();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }
}

//! When arrivals are planned: a schedule is a pure function of elapsed time.
//!
//! A `Profile` is a piecewise-linear curve (stages). For an open model its integral C(t) is the number of
//! arrivals planned up to t; arrival n is planned at C⁻¹(n) (even spacing, as k6) or at C⁻¹ of a unit-rate
//! Poisson process (independent users). Live control multiplies the curve by a level; a change of level
//! continues from the count reached, so that no arrival is lost or planned twice.

use rand::{rngs::SmallRng, SeedableRng};

use crate::segment::Segment;
use crate::think::exponential;

/// A piecewise-linear curve over elapsed seconds, starting at `start`.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    start: f64,
    /// (duration in seconds, value at its end)
    stages: Vec<(f64, f64)>,
}

impl Profile {
    pub fn constant(value: f64, duration_s: f64) -> Self {
        Self { start: value, stages: vec![(duration_s, value)] }
    }

    pub fn stages(start: f64, stages: Vec<(f64, f64)>) -> Self {
        Self { start, stages }
    }

    pub fn duration_s(&self) -> f64 {
        self.stages.iter().map(|(duration_s, _)| duration_s).sum()
    }

    pub fn peak(&self) -> f64 {
        self.stages.iter().fold(self.start, |peak, (_, value)| peak.max(*value))
    }

    /// The curve at an elapsed time; zero after its end.
    pub fn value_at(&self, elapsed_s: f64) -> f64 {
        let (mut from, mut begin_s) = (self.start, 0.0);
        for (duration_s, to) in &self.stages {
            if elapsed_s < begin_s + duration_s {
                return from + (to - from) * (elapsed_s - begin_s) / duration_s;
            }
            begin_s += duration_s;
            from = *to;
        }
        0.0
    }

    /// The integral of the curve from 0 to an elapsed time.
    pub fn integral(&self, elapsed_s: f64) -> f64 {
        let (mut from, mut left_s, mut total) = (self.start, elapsed_s.max(0.0), 0.0);
        for (duration_s, to) in &self.stages {
            let spent_s = left_s.min(*duration_s);
            if *duration_s > 0.0 {
                total += spent_s * (from + 0.5 * (to - from) * spent_s / duration_s);
            }
            left_s -= spent_s;
            from = *to;
            if left_s <= 0.0 {
                break;
            }
        }
        total
    }

    /// The earliest elapsed time at which the integral reaches `amount`, or `None` if it never does.
    pub fn inverse_integral(&self, amount: f64) -> Option<f64> {
        let (mut from, mut begin_s, mut left) = (self.start, 0.0, amount);
        for (duration_s, to) in &self.stages {
            let area = duration_s * 0.5 * (from + to);
            if left <= area && area > 0.0 {
                return Some(
                    begin_s + within_stage(from, (to - from) / duration_s, left).min(*duration_s),
                );
            }
            left -= area;
            begin_s += duration_s;
            from = *to;
        }
        None
    }
}

/// Solves from·t + slope·t²/2 = amount for t ≥ 0, in the form that does not cancel.
fn within_stage(from: f64, slope: f64, amount: f64) -> f64 {
    let root = (from * from + 2.0 * slope * amount).max(0.0).sqrt();
    if from + root > 0.0 {
        2.0 * amount / (from + root)
    } else {
        0.0
    }
}

/// How arrivals are spread around the profile's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly, as k6 does.
    Even,
    /// A Poisson process: independent users.
    Poisson,
}

/// The stream of planned arrival times of one scenario on one thread.
#[derive(Clone, Debug)]
pub struct Arrivals {
    profile: Profile,
    spacing: Spacing,
    rng: SmallRng,
    /// Multiplies the profile: live level × this thread's share.
    factor: f64,
    /// Where the factor was last changed: elapsed time, and the count reached there.
    anchor_s: f64,
    anchor_count: f64,
    /// The count at which the next arrival is due, and the distance between even arrivals.
    next_count: f64,
    stride: f64,
    /// The number of the next even arrival among those of this thread's segment, and what the segment is of all.
    next_own: u64,
    segment: Segment,
}

impl Arrivals {
    /// `part` of `parts` threads; even spacing interleaves the threads' arrivals exactly, Poisson streams
    /// are independent and their sum is Poisson again.
    pub fn new(profile: Profile, spacing: Spacing, seed: u64, part: usize, parts: usize) -> Self {
        let mut rng =
            SmallRng::seed_from_u64(seed ^ (part as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (next_count, stride) = match spacing {
            Spacing::Even => (part as f64, parts as f64),
            Spacing::Poisson => (exponential(&mut rng) * parts as f64, parts as f64),
        };
        let (next_own, segment) = (part as u64, Segment::default());
        Self {
            profile,
            spacing,
            rng,
            factor: 1.0,
            anchor_s: 0.0,
            anchor_count: 0.0,
            next_count,
            stride,
            next_own,
            segment,
        }
    }

    /// Plans only the arrivals of a segment; before the first arrival is taken.
    pub fn limit_to(&mut self, segment: Segment) {
        match self.spacing {
            Spacing::Even => self.next_count = segment.global(self.next_own) as f64,
            Spacing::Poisson => {
                self.next_count /= segment.fraction();
                self.stride /= segment.fraction();
            }
        }
        self.segment = segment;
    }

    /// Changes the level from `elapsed_s` on. Arrivals planned before it must have been taken already.
    pub fn set_level(&mut self, level: f64, elapsed_s: f64) {
        self.anchor_count = self.count_at(elapsed_s);
        self.anchor_s = elapsed_s;
        self.factor = level.max(0.0);
    }

    fn count_at(&self, elapsed_s: f64) -> f64 {
        self.anchor_count
            + self.factor
                * (self.profile.integral(elapsed_s) - self.profile.integral(self.anchor_s))
    }

    /// The planned time of the next arrival in seconds, without taking it; `None` when none will come.
    pub fn peek_s(&self) -> Option<f64> {
        if self.factor <= 0.0 {
            return None;
        }
        let base = self.profile.integral(self.anchor_s);
        let ahead = (self.next_count - self.anchor_count).max(0.0) / self.factor;
        let planned_s = self.profile.inverse_integral(base + ahead)?.max(self.anchor_s);
        (planned_s < self.profile.duration_s()).then_some(planned_s)
    }

    /// Takes the arrival that `peek_s` showed.
    pub fn take(&mut self) {
        match self.spacing {
            Spacing::Even => {
                self.next_own += self.stride as u64;
                self.next_count = self.segment.global(self.next_own) as f64;
            }
            Spacing::Poisson => self.next_count += self.stride * exponential(&mut self.rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(arrivals: &mut Arrivals, until_s: f64) -> Vec<f64> {
        let mut times = Vec::new();
        while let Some(at) = arrivals.peek_s().filter(|at| *at < until_s) {
            arrivals.take();
            times.push(at);
        }
        times
    }

    #[test]
    fn inverse_undoes_the_integral_on_every_stage_shape() {
        let profile = Profile::stages(
            0.0,
            vec![(10.0, 50.0), (5.0, 50.0), (10.0, 0.0), (0.0, 20.0), (5.0, 20.0)],
        );
        for tenth in 1..240 {
            let at = f64::from(tenth) / 10.0;
            assert!(
                (profile.inverse_integral(profile.integral(at)).unwrap() - at).abs() < 1e-6,
                "{at}"
            );
        }
        assert_eq!(profile.inverse_integral(profile.integral(30.0) + 1.0), None);
    }

    #[test]
    fn even_arrivals_of_two_threads_interleave_to_the_stated_rate() {
        let mut all: Vec<f64> = (0..2)
            .flat_map(|part| {
                planned(
                    &mut Arrivals::new(Profile::constant(10.0, 2.0), Spacing::Even, 0, part, 2),
                    2.0,
                )
            })
            .collect();
        all.sort_by(f64::total_cmp);
        assert_eq!(all.len(), 20);
        assert!(
            all.iter().enumerate().all(|(index, at)| (at - index as f64 / 10.0).abs() < 1e-9),
            "{all:?}"
        );
    }

    #[test]
    fn the_arrivals_of_all_segments_and_threads_are_those_of_the_whole() {
        let profile = Profile::stages(0.0, vec![(10.0, 50.0), (5.0, 20.0)]);
        let whole = planned(&mut Arrivals::new(profile.clone(), Spacing::Even, 0, 0, 1), 15.0);
        let sequence = serde_json::json!("0,1/7,2/5,1");
        let mut parts = Vec::new();
        for (segment, thread) in
            ["0:1/7", "1/7:2/5", "2/5:1"].iter().flat_map(|segment| [(segment, 0), (segment, 1)])
        {
            let mut arrivals = Arrivals::new(profile.clone(), Spacing::Even, 0, thread, 2);
            arrivals.limit_to(
                Segment::read(Some(&serde_json::json!(segment)), Some(&sequence)).unwrap(),
            );
            parts.extend(planned(&mut arrivals, 15.0));
        }
        parts.sort_by(f64::total_cmp);
        assert_eq!(parts, whole);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_variance_of_a_poisson_process() {
        let mut arrivals =
            Arrivals::new(Profile::constant(100.0, 1000.0), Spacing::Poisson, 7, 0, 1);
        let times = planned(&mut arrivals, 1000.0);
        let mut per_second = vec![0.0; 1000];
        times.iter().for_each(|at| per_second[*at as usize] += 1.0);
        let mean = times.len() as f64 / 1000.0;
        let variance =
            per_second.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 999.0;
        assert!(
            (mean - 100.0).abs() < 2.0 && (variance / mean - 1.0).abs() < 0.2,
            "{mean} {variance}"
        );
    }

    #[test]
    fn a_change_of_level_loses_and_repeats_nothing() {
        let mut arrivals = Arrivals::new(Profile::constant(10.0, 100.0), Spacing::Even, 0, 0, 1);
        let first = planned(&mut arrivals, 1.05);
        arrivals.set_level(2.0, 1.05);
        let second = planned(&mut arrivals, 2.0);
        assert_eq!(first.len(), 11);
        assert!(
            (second[0] - 1.075).abs() < 1e-9,
            "half of the waiting was done at the old level: {second:?}"
        );
        arrivals.set_level(0.0, 2.0);
        assert_eq!(arrivals.peek_s(), None);
        arrivals.set_level(1.0, 50.0);
        assert!(arrivals.peek_s().unwrap() >= 50.0);
    }
}

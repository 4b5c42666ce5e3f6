//! Execution segments: the part of a load that this process makes when several share it.
//!
//! A sequence cuts [0, 1] into segments. With all lengths as whole numbers over their least common denominator `cycle`,
//! each of `cycle` successive VUs (iterations, arrivals) belongs to one segment, the one that is furthest behind its
//! share. So the segments' parts of any number add up to it exactly, and one more VU is one more in one segment only.

use serde_json::Value;

/// A cycle of more VUs than this is refused: no real cut of a load needs it.
const MAX_CYCLE: u64 = 1_000_000;

/// A fraction between 0 and 1 in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    over: u64,
    under: u64,
}

impl Fraction {
    const ZERO: Self = Self { over: 0, under: 1 };
    const ONE: Self = Self { over: 1, under: 1 };

    fn new(over: u64, under: u64) -> Option<Self> {
        let divisor = common_divisor(over, under);
        (under > 0 && over <= under).then(|| Self { over: over / divisor, under: under / divisor })
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((over, under)) = text.split_once('/') {
            return Self::new(over.trim().parse().ok()?, under.trim().parse().ok()?);
        }
        let (number, scale) = text.strip_suffix('%').map_or((text, 1), |number| (number, 100));
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let digits = u32::try_from(decimals.len()).ok().filter(|digits| *digits <= 9)?;
        let under = 10_u64.pow(digits);
        let whole: u64 = if whole.is_empty() && digits > 0 { 0 } else { whole.parse().ok()? };
        let decimals: u64 = if digits == 0 { 0 } else { decimals.parse().ok()? };
        Self::new(whole.checked_mul(under)?.checked_add(decimals)?, under * scale)
    }

    fn is_below(self, other: Self) -> bool {
        u128::from(self.over) * u128::from(other.under)
            < u128::from(other.over) * u128::from(self.under)
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a.max(1)
    } else {
        common_divisor(b, a % b)
    }
}

/// This process's part: of the segments of `lengths`, whose sum is the cycle, the one at `at`. `own` are the numbers from 0
/// to the cycle that belong to it, sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    lengths: Vec<u64>,
    at: usize,
    own: Vec<u64>,
}

impl Default for Segment {
    fn default() -> Self {
        Self { lengths: vec![1], at: 0, own: vec![0] }
    }
}

impl Segment {
    /// Reads k6's `executionSegment` ("0:1/3", "10%") and `executionSegmentSequence` ("0,1/3,1").
    pub fn read(segment: Option<&Value>, sequence: Option<&Value>) -> Result<Self, String> {
        let Some(text) =
            segment.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        else {
            return match (segment, sequence) {
                (Some(value), _) if !value.is_string() => Err(format!("executionSegment: {value} is not a text")),
                (None, Some(_)) => Err("executionSegmentSequence: without an executionSegment it says nothing; give both".into()),
                _ => Ok(Self::default()),
            };
        };
        let mistake = || {
            format!("executionSegment: '{text}' is no part of 0 to 1; write for example '0:1/3', '20%:40%' or '1/2'")
        };
        let (from, to) = text.split_once(':').unwrap_or(("0", text));
        let (from, to) =
            (Fraction::parse(from).ok_or_else(mistake)?, Fraction::parse(to).ok_or_else(mistake)?);
        if !from.is_below(to) {
            return Err(mistake());
        }
        let cuts =
            match sequence.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()) {
                Some(sequence) => read_sequence(sequence)?,
                None => {
                    let mut cuts = vec![Fraction::ZERO, from, to, Fraction::ONE];
                    cuts.dedup();
                    cuts
                }
            };
        let at = cuts.windows(2).position(|pair| pair[0] == from && pair[1] == to);
        let at = at.ok_or_else(|| {
            format!("executionSegment: '{text}' is not one of executionSegmentSequence's")
        })?;
        Self::of(&cuts, at)
    }

    fn of(cuts: &[Fraction], at: usize) -> Result<Self, String> {
        let too_fine = || {
            "executionSegmentSequence: its fractions have no common denominator up to 1000000; use simpler ones".to_owned()
        };
        let mut cycle = 1_u64;
        for cut in cuts {
            cycle = cycle
                .checked_mul(cut.under / common_divisor(cycle, cut.under))
                .filter(|cycle| *cycle <= MAX_CYCLE)
                .ok_or_else(too_fine)?;
        }
        let place = |cut: Fraction| cut.over * (cycle / cut.under);
        let lengths: Vec<u64> =
            cuts.windows(2).map(|pair| place(pair[1]) - place(pair[0])).collect();
        Ok(Self::with(lengths, at))
    }

    fn with(lengths: Vec<u64>, at: usize) -> Self {
        let own = owners(&lengths)
            .zip(0..)
            .filter(|(owner, _)| *owner == at)
            .map(|(_, number)| number)
            .collect();
        Self { lengths, at, own }
    }

    fn cycle(&self) -> u64 {
        self.lengths.iter().sum()
    }

    /// The segment for the work of a number of VUs: as in k6, iterations and arrivals are cut as the VUs are, so that each
    /// VU has as much to do in a segment as in the whole. A segment without a VU has nothing to do.
    pub fn of_work(&self, vus: u64) -> Self {
        if self.lengths.len() == 1 || vus == 0 {
            return self.clone();
        }
        let mut lengths: Vec<u64> =
            self.lengths.iter().map(|length| length * (vus / self.cycle())).collect();
        owners(&self.lengths)
            .take((vus % self.cycle()) as usize)
            .for_each(|owner| lengths[owner] += 1);
        let divisor = lengths.iter().fold(0, |divisor, length| common_divisor(*length, divisor));
        lengths.iter_mut().for_each(|length| *length /= divisor);
        Self::with(lengths, self.at)
    }

    /// This segment's part of a whole number of VUs or iterations.
    pub fn share(&self, whole: u64) -> u64 {
        let rest = whole % self.cycle();
        whole / self.cycle() * self.own.len() as u64
            + self.own.partition_point(|number| *number < rest) as u64
    }

    /// The number, among all segments', of this segment's own VU, iteration or arrival `own`; both from 0. For a segment
    /// that has any.
    pub fn global(&self, own: u64) -> u64 {
        let each = self.own.len() as u64;
        own / each * self.cycle() + self.own[(own % each) as usize]
    }

    /// The part of the whole, above 0 and at most 1.
    pub fn fraction(&self) -> f64 {
        self.own.len() as f64 / self.cycle() as f64
    }
}

/// Whose each number of a cycle is.
fn owners(lengths: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let cycle: u64 = lengths.iter().sum();
    let mut taken = vec![0_u64; lengths.len()];
    (0..cycle).map(move |number| {
        // How far a segment is behind its share of number + 1, times the cycle.
        let behind = |segment: usize| {
            (lengths[segment] * (number + 1)) as i64 - (taken[segment] * cycle) as i64
        };
        let next = (0..lengths.len())
            .max_by_key(|segment| (behind(*segment), std::cmp::Reverse(*segment)))
            .unwrap_or(0);
        taken[next] += 1;
        next
    })
}

fn read_sequence(text: &str) -> Result<Vec<Fraction>, String> {
    let mistake = || {
        format!("executionSegmentSequence: '{text}' does not rise from 0 to 1; write for example '0,1/3,2/3,1'")
    };
    let cuts: Option<Vec<Fraction>> = text.split(',').map(Fraction::parse).collect();
    let cuts = cuts.ok_or_else(mistake)?;
    let whole = cuts.first() == Some(&Fraction::ZERO) && cuts.last() == Some(&Fraction::ONE);
    if whole && cuts.windows(2).all(|pair| pair[0].is_below(pair[1])) {
        Ok(cuts)
    } else {
        Err(mistake())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{rngs::SmallRng, Rng, SeedableRng};
    use serde_json::json;

    fn segments(sequence: &str) -> Vec<Segment> {
        let cuts: Vec<&str> = sequence.split(',').collect();
        let part = |pair: &[&str]| {
            Segment::read(Some(&json!(format!("{}:{}", pair[0], pair[1]))), Some(&json!(sequence)))
                .unwrap()
        };
        cuts.windows(2).map(part).collect()
    }

    /// A random cut of [0, 1] into up to six parts.
    fn random_sequence(rng: &mut SmallRng) -> String {
        let under = rng.random_range(2..200_u64);
        let mut cuts: Vec<u64> =
            (0..rng.random_range(1..6)).map(|_| rng.random_range(1..under)).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let inner: String = cuts.iter().map(|cut| format!("{cut}/{under},")).collect();
        format!("0,{inner}1")
    }

    #[test]
    fn the_parts_of_any_number_add_up_and_grow_by_one_in_one_segment() {
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..300 {
            let sequence = random_sequence(&mut rng);
            let all = segments(&sequence);
            let mut before = vec![0; all.len()];
            for whole in 1..300_u64 {
                let now: Vec<u64> = all.iter().map(|segment| segment.share(whole)).collect();
                assert_eq!(now.iter().sum::<u64>(), whole, "{sequence}");
                let grown: Vec<u64> =
                    now.iter().zip(&before).map(|(now, before)| now - before).collect();
                assert_eq!(grown.iter().sum::<u64>(), 1, "{sequence} {whole}");
                before = now;
            }
            for (segment, share) in all.iter().zip(before) {
                assert!(
                    (share as f64 - 299.0 * segment.fraction()).abs() <= all.len() as f64,
                    "{sequence}"
                );
            }
        }
    }

    #[test]
    fn every_number_belongs_to_exactly_one_segment() {
        let mut rng = SmallRng::seed_from_u64(8);
        for _ in 0..100 {
            let sequence = random_sequence(&mut rng);
            let mut seen: Vec<u64> = segments(&sequence)
                .iter()
                .flat_map(|segment| {
                    (0..segment.share(500)).map(|own| segment.global(own)).collect::<Vec<_>>()
                })
                .collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..500).collect::<Vec<_>>(), "{sequence}");
        }
    }

    #[test]
    fn work_is_cut_as_the_vus_are_and_still_adds_up() {
        let all = segments("0,1/5,1/2,1");
        let vus: Vec<u64> = all.iter().map(|segment| segment.share(7)).collect();
        let iterations: Vec<u64> =
            all.iter().map(|segment| segment.of_work(7).share(101)).collect();
        assert_eq!(vus.iter().sum::<u64>(), 7);
        assert_eq!(iterations.iter().sum::<u64>(), 101);
        for (iterations, vus) in iterations.iter().zip(&vus) {
            assert!(
                (*iterations as f64 - 101.0 * *vus as f64 / 7.0).abs() <= 1.0,
                "{iterations} of {vus} VUs"
            );
        }
        let mut rng = SmallRng::seed_from_u64(9);
        for _ in 0..100 {
            let (sequence, vus, whole) =
                (random_sequence(&mut rng), rng.random_range(1..500), rng.random_range(1..5000));
            let parts: Vec<u64> = segments(&sequence)
                .iter()
                .map(|segment| segment.of_work(vus).share(whole))
                .collect();
            assert_eq!(parts.iter().sum::<u64>(), whole, "{sequence} {vus}");
        }
    }

    #[test]
    fn fractions_are_read_as_k6_writes_them() {
        for (text, share_of_60) in [
            ("1/3", 20),
            ("10%", 6),
            ("0.25", 15),
            ("25%:0.5", 15),
            ("2/3:1", 20),
            ("0:1", 60),
            ("0.2:2/3", 28),
        ] {
            assert_eq!(
                Segment::read(Some(&json!(text)), None).unwrap().share(60),
                share_of_60,
                "{text}"
            );
        }
        assert_eq!(Segment::read(None, None).unwrap(), Segment::default());
    }

    #[test]
    fn mistakes_are_named_with_an_example() {
        for (segment, sequence) in [
            (json!("2"), json!(null)),
            (json!("1/2:1/3"), json!(null)),
            (json!("a:b"), json!(null)),
            (json!(""), json!(5)),
            (json!(3), json!(null)),
            (json!("0:1/2"), json!("0,1/3,1")),
            (json!("0:1/2"), json!("0,1/2")),
            (json!("0:1/999983"), json!("0,1/999983,1/2,1")),
        ] {
            let sequence = Some(&sequence).filter(|sequence| !sequence.is_null());
            let message = match Segment::read(Some(&segment), sequence) {
                Err(message) => message,
                Ok(read) => {
                    assert_eq!(segment, json!(""), "{segment} was read as {read:?}");
                    continue;
                }
            };
            assert!(message.starts_with("executionSegment"), "{message}");
        }
    }
}

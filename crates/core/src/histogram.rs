//! A mergeable histogram over the whole range of `f64`, with a relative bucket width of 2⁻¹⁰.
//!
//! A bucket is the top 22 bits of a value's IEEE-754 form (sign, exponent, ten bits of mantissa), so that
//! finding it costs one shift and no configuration: the log-linear layout of HdrHistogram (G. Tene) without a
//! fixed range. A bucket's midpoint is at most 0.05 % from any value in it. A few buckets are a list; more live in pages that
//! are made on first use. Memory depends on the spread of the values and never on how many there were.

const PAGE_BITS: u32 = 6;
const PAGE: usize = 1 << PAGE_BITS;
const SHIFT: u32 = 42;

/// Buckets that are kept as a list: as large as one page, where they would need up to as many pages.
const FEW: usize = 32;

/// Pages whose place is remembered: four octaves of neighbours, within which nearly all values of a series lie.
const NEAR: usize = 64;

/// The number itself; where it would be infinite, as a sum of large ones, the largest that there is. JSON has no infinity.
pub fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

#[derive(Clone, Debug)]
pub struct Histogram {
    /// Buckets sorted by number, until there are too many; then there are pages.
    few: Vec<(i32, u64)>,
    /// Pages sorted by page number.
    pages: Vec<(i32, Box<[u64; PAGE]>)>,
    /// Where a bucket of the list or a page was seen last, by the low bits of its number; to be checked before it is
    /// believed.
    near: [u8; NEAR],
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

/// The bucket of a finite value; negative values mirror positive ones.
pub fn bucket_of(value: f64) -> i32 {
    let magnitude = (value.abs().to_bits() >> SHIFT) as i32;
    if value < 0.0 {
        -magnitude
    } else {
        magnitude
    }
}

/// The midpoint of a bucket, in the unit of the values.
pub fn midpoint(bucket: i32) -> f64 {
    let magnitude = u64::from(bucket.unsigned_abs());
    let low = f64::from_bits(magnitude << SHIFT);
    let high = finite(f64::from_bits((magnitude + 1) << SHIFT));
    let middle = if bucket == 0 { 0.0 } else { low + (high - low) / 2.0 };
    if bucket < 0 {
        -middle
    } else {
        middle
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            pages: Vec::new(),
            near: [0; NEAR],
            count: 0,
            sum: 0.0,
            min: 0.0,
            max: 0.0,
        }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum, self.min, self.max) == (other.count, other.sum, other.min, other.max)
            && self.buckets().eq(other.buckets())
    }
}

impl Histogram {
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value. Values that are not finite are ignored, because no bucket is true for them.
    pub fn record(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.add_to_bucket(bucket_of(value), 1);
        self.sum = finite(self.sum + value);
        self.widen(value, value);
        self.count += 1;
    }

    fn widen(&mut self, low: f64, high: f64) {
        if self.count == 0 {
            self.min = low;
            self.max = high;
        } else {
            self.min = self.min.min(low);
            self.max = self.max.max(high);
        }
    }

    #[inline]
    fn add_to_bucket(&mut self, bucket: i32, times: u64) {
        if self.pages.is_empty() {
            self.add_to_few(bucket, times);
        } else {
            self.add_to_page(bucket, times);
        }
    }

    fn add_to_few(&mut self, bucket: i32, times: u64) {
        let near = bucket as usize % NEAR;
        if let Some((_, counted)) =
            self.few.get_mut(usize::from(self.near[near])).filter(|(number, _)| *number == bucket)
        {
            *counted += times;
            return;
        }
        let at = match self.few.binary_search_by_key(&bucket, |(number, _)| *number) {
            Ok(at) => at,
            Err(_) if self.few.len() == FEW => {
                for (known, counted) in std::mem::take(&mut self.few) {
                    self.add_to_page(known, counted);
                }
                return self.add_to_page(bucket, times);
            }
            Err(at) => {
                self.few.insert(at, (bucket, 0));
                at
            }
        };
        self.near[near] = at as u8;
        self.few[at].1 += times;
    }

    fn add_to_page(&mut self, bucket: i32, times: u64) {
        let page = bucket >> PAGE_BITS;
        let slot = (bucket & (PAGE as i32 - 1)) as usize;
        let near = page as usize % NEAR;
        match self.pages.get_mut(usize::from(self.near[near])) {
            Some((number, counts)) if *number == page => counts[slot] += times,
            _ => {
                let at = match self.pages.binary_search_by_key(&page, |(number, _)| *number) {
                    Ok(at) => at,
                    Err(at) => {
                        self.pages.insert(at, (page, Box::new([0; PAGE])));
                        at
                    }
                };
                // A place beyond what a byte holds is looked up each time.
                self.near[near] = at as u8;
                self.pages[at].1[slot] += times;
            }
        }
    }

    /// Adds another histogram; exact, associative and commutative in the counts.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        for (bucket, times) in other.buckets() {
            self.add_to_bucket(bucket, times);
        }
        self.widen(other.min, other.max);
        self.sum = finite(self.sum + other.sum);
        self.count += other.count;
    }

    /// The non-empty buckets in ascending order of value.
    pub fn buckets(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let paged = self.pages.iter().flat_map(|(page, counts)| {
            counts
                .iter()
                .enumerate()
                .filter(|(_, times)| **times > 0)
                .map(move |(slot, times)| ((page << PAGE_BITS) + slot as i32, *times))
        });
        self.few.iter().copied().chain(paged)
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn sum(&self) -> f64 {
        self.sum
    }

    pub fn min(&self) -> f64 {
        self.min
    }

    pub fn max(&self) -> f64 {
        self.max
    }

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The value at a quantile in [0, 1]: the smallest bucket that holds at least that share, within 0.05 %; the ends
    /// are minimum and maximum themselves.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        if quantile <= 0.0 {
            return Some(self.min);
        }
        if quantile >= 1.0 {
            return Some(self.max);
        }
        let rank = (quantile * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, times) in self.buckets() {
            seen += times;
            if seen >= rank {
                return Some(midpoint(bucket).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{rngs::SmallRng, Rng, SeedableRng};

    #[test]
    fn quantiles_are_within_a_tenth_of_a_percent() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut values: Vec<f64> =
            (0..50_000).map(|_| (rng.random::<f64>() * 14.0 - 7.0).exp()).collect();
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        values.sort_by(f64::total_cmp);
        for quantile in [0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            let truth = values[((quantile * values.len() as f64).ceil() as usize).max(1) - 1];
            let got = histogram.quantile(quantile).unwrap();
            assert!((got / truth - 1.0).abs() <= 0.001, "{quantile}: {got} against {truth}");
        }
        assert_eq!(histogram.quantile(0.0), values.first().copied());
        assert_eq!(histogram.quantile(1.0), values.last().copied());
    }

    #[test]
    fn merging_parts_equals_recording_everything_in_one() {
        let mut rng = SmallRng::seed_from_u64(2);
        let (mut whole, mut left, mut right) =
            (Histogram::new(), Histogram::new(), Histogram::new());
        for index in 0..10_000 {
            let value = f64::from(rng.random_range(-1000..1000));
            whole.record(value);
            if index % 3 == 0 { &mut left } else { &mut right }.record(value);
        }
        left.merge(&right);
        assert_eq!(left.buckets().collect::<Vec<_>>(), whole.buckets().collect::<Vec<_>>());
        assert_eq!(
            (left.count(), left.sum(), left.min(), left.max()),
            (whole.count(), whole.sum(), whole.min(), whole.max())
        );
    }

    #[test]
    fn a_list_that_becomes_pages_keeps_every_count() {
        let mut histogram = Histogram::new();
        for round in 1..=3u64 {
            for value in 0..(FEW as u64 * round) {
                histogram.record(value as f64 - 20.0);
            }
            assert_eq!(histogram.pages.is_empty(), round == 1);
            assert!(histogram.buckets().is_sorted_by_key(|(bucket, _)| bucket));
            assert_eq!(histogram.buckets().map(|(_, times)| times).sum::<u64>(), histogram.count());
        }
        let of_twenty = histogram.buckets().find(|(bucket, _)| *bucket == bucket_of(20.0));
        assert_eq!(of_twenty, Some((bucket_of(20.0), 2)));
    }

    #[test]
    fn values_that_are_not_finite_are_ignored() {
        let mut histogram = Histogram::new();
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY]
            .into_iter()
            .for_each(|value| histogram.record(value));
        assert_eq!(histogram.quantile(0.5), None);
    }

    #[test]
    fn sums_of_the_largest_numbers_stay_numbers() {
        let mut histogram = Histogram::new();
        [f64::MAX, f64::MAX, 1.0].into_iter().for_each(|value| histogram.record(value));
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        for histogram in [histogram, twice] {
            assert!(histogram.sum().is_finite() && histogram.mean().unwrap().is_finite());
            assert!(
                histogram.max() == f64::MAX
                    && histogram.quantile(0.9).is_some_and(|high| high / f64::MAX > 0.999)
            );
        }
    }

    #[test]
    fn zero_and_negative_values_keep_their_order() {
        let mut histogram = Histogram::new();
        [-5.0, 0.0, 5.0].into_iter().for_each(|value| histogram.record(value));
        let middle = [0.1, 0.5, 0.9].map(|quantile| histogram.quantile(quantile).unwrap());
        assert!(
            (middle[0] + 5.0).abs() < 0.01 && middle[1] == 0.0 && (middle[2] - 5.0).abs() < 0.01,
            "{middle:?}"
        );
    }
}

//! Thresholds as k6 writes them: `http_req_duration{name:GET /x}: ["p(95) < 500"]`.
//!
//! A threshold on a metric that saw no sample is undecided: k6 passes it, which hides a load that never ran. Of a counter it
//! is judged by its count of 0, as in k6.

use crate::histogram::finite;
use crate::record::{Kind, Values};
use crate::sums::Sums;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregate {
    Count,
    Rate,
    Value,
    Mean,
    Min,
    Max,
    Quantile(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// One parsed expression with the metric and tags it applies to.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The key as written, for the summary.
    pub key: String,
    pub metric: String,
    pub tags: Vec<(String, String)>,
    pub source: String,
    pub aggregate: Aggregate,
    pub comparison: Comparison,
    pub limit: f64,
    pub abort_on_fail: bool,
    pub delay_abort_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed,
    Undecided,
}

/// Splits `metric{tag:value,other:value}`; values may hold spaces, slashes, colons and quotes.
pub fn parse_key(key: &str) -> Result<(String, Vec<(String, String)>), String> {
    let Some((metric, rest)) = key.split_once('{') else {
        return Ok((key.trim().to_owned(), Vec::new()));
    };
    let inner = rest
        .trim_end()
        .strip_suffix('}')
        .ok_or_else(|| format!("threshold '{key}': a '}}' is missing at its end"))?;
    let mut tags = Vec::new();
    for part in split_tags(inner) {
        let (name, value) =
            part.split_once(':').ok_or_else(|| format!("threshold '{key}': '{part}' is not tag:value; write for example {{name:GET /issues}}"))?;
        let value = value.trim().trim_matches(|c| c == '"' || c == '\'');
        tags.push((name.trim().trim_matches('"').to_owned(), value.to_owned()));
    }
    Ok((metric.trim().to_owned(), tags))
}

/// Splits at commas that are followed by `word:`, so that a value may hold a comma.
fn split_tags(inner: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in inner.match_indices(',') {
        let after = inner[at + 1..].trim_start();
        let word = after
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '"'))
            .unwrap_or(after.len());
        if word > 0 && after[word..].starts_with(':') {
            parts.push(&inner[from..at]);
            from = at + 1;
        }
    }
    if !inner[from..].trim().is_empty() {
        parts.push(&inner[from..]);
    }
    parts
}

const COMPARISONS: [(&str, Comparison); 7] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("===", Comparison::Equal),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Threshold {
    pub fn parse(key: &str, source: &str) -> Result<Self, String> {
        let (metric, tags) = parse_key(key)?;
        let mistake = |what: &str| {
            format!("threshold '{key}': '{source}' {what}; write for example 'p(95) < 500', 'rate < 0.01' or 'count > 10'")
        };
        let at = source.find(['<', '>', '=', '!']).ok_or_else(|| mistake("has no comparison"))?;
        let (sign, comparison) = *COMPARISONS
            .iter()
            .find(|(sign, _)| source[at..].starts_with(sign))
            .ok_or_else(|| mistake("has an unknown comparison"))?;
        let aggregate = Aggregate::parse(source[..at].trim())
            .ok_or_else(|| mistake("has an unknown aggregate"))?;
        let limit: f64 = source[at + sign.len()..]
            .trim()
            .parse()
            .map_err(|_| mistake("has no number at its end"))?;
        Ok(Self {
            key: key.to_owned(),
            metric,
            tags,
            source: source.to_owned(),
            aggregate,
            comparison,
            limit,
            abort_on_fail: false,
            delay_abort_s: 0.0,
        })
    }

    /// Whether there is such a metric, and the aggregate exists for its kind; the error lists what there is.
    pub fn check(&self, kind: Option<Kind>) -> Result<(), String> {
        let Some(kind) = kind else {
            return Err(format!(
                "threshold '{}': there is no metric '{}'; check its spelling, or make it in the init context with k6/metrics",
                self.key, self.metric
            ));
        };
        let allowed = match kind {
            Kind::Counter => matches!(self.aggregate, Aggregate::Count | Aggregate::Rate),
            Kind::Gauge => matches!(self.aggregate, Aggregate::Value),
            Kind::Rate => matches!(self.aggregate, Aggregate::Rate),
            Kind::Trend => matches!(
                self.aggregate,
                Aggregate::Mean | Aggregate::Min | Aggregate::Max | Aggregate::Quantile(_)
            ),
        };
        let names = match kind {
            Kind::Counter => "count, rate",
            Kind::Gauge => "value",
            Kind::Rate => "rate",
            Kind::Trend => "avg, min, max, med, p(N)",
        };
        if allowed {
            Ok(())
        } else {
            Err(format!(
                "threshold '{}': '{}' does not apply to a {}; use one of: {names}",
                self.key,
                self.source,
                kind.name()
            ))
        }
    }

    /// Judges the threshold over everything measured in `elapsed_s` seconds; with the observed value.
    pub fn judge(&self, sums: &Sums, elapsed_s: f64) -> (Verdict, Option<f64>) {
        let observed = sums
            .get(&self.metric, &self.tags)
            .and_then(|values| observe(values, self.aggregate, elapsed_s));
        observed.map_or((Verdict::Undecided, None), |value| self.judge_value(value))
    }

    /// Judges it at the end of a run. What never happened was counted 0 times; of other metrics no sample says nothing.
    pub fn judge_at_end(&self, sums: &Sums, kind: Kind, elapsed_s: f64) -> (Verdict, Option<f64>) {
        match self.judge(sums, elapsed_s) {
            (Verdict::Undecided, _) if kind == Kind::Counter => self.judge_value(0.0),
            judged => judged,
        }
    }

    fn judge_value(&self, value: f64) -> (Verdict, Option<f64>) {
        (if self.holds(value) { Verdict::Passed } else { Verdict::Failed }, Some(value))
    }

    fn holds(&self, value: f64) -> bool {
        match self.comparison {
            Comparison::Less => value < self.limit,
            Comparison::LessOrEqual => value <= self.limit,
            Comparison::Greater => value > self.limit,
            Comparison::GreaterOrEqual => value >= self.limit,
            Comparison::Equal => value == self.limit,
            Comparison::NotEqual => value != self.limit,
        }
    }
}

impl Aggregate {
    /// An aggregate as k6 writes it: `avg`, `p(99.9)`.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "count" => Self::Count,
            "rate" => Self::Rate,
            "value" => Self::Value,
            "avg" => Self::Mean,
            "min" => Self::Min,
            "max" => Self::Max,
            "med" => Self::Quantile(0.5),
            _ => {
                let percent: f64 =
                    text.strip_prefix("p(")?.strip_suffix(')')?.trim().parse().ok()?;
                (0.0..=100.0).contains(&percent).then_some(Self::Quantile(percent / 100.0))?
            }
        })
    }
}

/// The value of an aggregate, or `None` when there is no sample or the aggregate does not apply.
pub fn observe(values: &Values, aggregate: Aggregate, elapsed_s: f64) -> Option<f64> {
    match (values, aggregate) {
        (Values::Counter { sum, .. }, Aggregate::Count) => Some(*sum),
        (Values::Counter { sum, .. }, Aggregate::Rate) => {
            (elapsed_s > 0.0).then(|| finite(sum / elapsed_s))
        }
        (Values::Gauge { last, .. }, Aggregate::Value) => (!last.is_nan()).then_some(*last),
        (Values::Rate { passes, total }, Aggregate::Rate) => {
            (*total > 0).then(|| *passes as f64 / *total as f64)
        }
        (Values::Trend(histogram), Aggregate::Mean) => histogram.mean(),
        (Values::Trend(histogram), Aggregate::Min) => {
            (histogram.count() > 0).then(|| histogram.min())
        }
        (Values::Trend(histogram), Aggregate::Max) => {
            (histogram.count() > 0).then(|| histogram.max())
        }
        (Values::Trend(histogram), Aggregate::Quantile(quantile)) => histogram.quantile(quantile),
        _ => None,
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_spaces_slashes_commas_and_colons_are_read() {
        let (metric, tags) =
            parse_key("http_req_duration{name:GET /a/b?x=1,2, scenario:my scenario}").unwrap();
        assert_eq!(metric, "http_req_duration");
        assert_eq!(
            tags,
            [
                ("name".into(), "GET /a/b?x=1,2".into()),
                ("scenario".to_string(), "my scenario".to_string())
            ]
        );
        assert_eq!(
            parse_key("m{url:http://a:1/b}").unwrap().1,
            [("url".to_string(), "http://a:1/b".to_string())]
        );
    }

    #[test]
    fn a_threshold_wants_a_metric_that_is_there_and_an_aggregate_of_its_kind() {
        let check = |source: &str, kind| Threshold::parse("seen", source).unwrap().check(kind);
        assert!(
            check("p(95)<1", Some(Kind::Trend)).is_ok()
                && check("rate<1", Some(Kind::Counter)).is_ok()
        );
        assert!(check("p(95)<1", Some(Kind::Rate))
            .unwrap_err()
            .contains("does not apply to a rate"));
        assert!(check("value<1", Some(Kind::Counter))
            .unwrap_err()
            .contains("use one of: count, rate"));
        assert!(check("rate<1", None).unwrap_err().contains("there is no metric 'seen'"));
    }

    #[test]
    fn expressions_of_every_aggregate_are_read() {
        for (source, aggregate, comparison, limit) in [
            ("p(95) < 500", Aggregate::Quantile(0.95), Comparison::Less, 500.0),
            ("p(99.9)<=1.5", Aggregate::Quantile(0.999), Comparison::LessOrEqual, 1.5),
            ("rate>0.9", Aggregate::Rate, Comparison::Greater, 0.9),
            ("count === 0", Aggregate::Count, Comparison::Equal, 0.0),
            ("med != 3", Aggregate::Quantile(0.5), Comparison::NotEqual, 3.0),
        ] {
            let parsed = Threshold::parse("m", source).unwrap();
            assert_eq!((parsed.comparison, parsed.limit), (comparison, limit), "{source}");
            match (parsed.aggregate, aggregate) {
                (Aggregate::Quantile(got), Aggregate::Quantile(want)) => {
                    assert!((got - want).abs() < 1e-12)
                }
                (got, want) => assert_eq!(got, want),
            }
        }
    }

    #[test]
    fn mistakes_name_the_threshold_and_show_an_example() {
        for source in ["p(95)", "p(195) < 1", "foo < 1", "rate < x", "", "rate ! 1"] {
            let message = Threshold::parse("checks", source).unwrap_err();
            assert!(message.contains("checks") && message.contains("for example"), "{message}");
        }
    }

    #[test]
    fn a_threshold_without_a_sample_is_undecided() {
        let threshold = Threshold::parse("http_req_duration{name:never}", "p(95)<1").unwrap();
        let sums = Sums::watching([(threshold.metric.as_str(), &threshold.tags)]);
        assert_eq!(threshold.judge(&sums, 1.0), (Verdict::Undecided, None));
        assert_eq!(threshold.judge_at_end(&sums, Kind::Trend, 1.0), (Verdict::Undecided, None));
    }

    #[test]
    fn a_counter_without_a_sample_is_judged_by_its_count_of_0_at_the_end() {
        let judged = |source: &str| {
            let threshold = Threshold::parse("mistakes", source).unwrap();
            assert_eq!(threshold.judge(&Sums::default(), 1.0).0, Verdict::Undecided);
            threshold.judge_at_end(&Sums::default(), Kind::Counter, 1.0)
        };
        assert_eq!(judged("count==0"), (Verdict::Passed, Some(0.0)));
        assert_eq!(judged("count==3"), (Verdict::Failed, Some(0.0)));
        assert_eq!(judged("rate<1"), (Verdict::Passed, Some(0.0)));
    }
}

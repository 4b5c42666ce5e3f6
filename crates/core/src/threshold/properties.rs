//! Thresholds over generated keys and expressions (`make fuzz`).

use plimsoll_fuzz::holds;
use plimsoll_fuzz::proptest::{self, prelude::*};

use super::{parse_key, Aggregate, Threshold, COMPARISONS};

/// Text that is made of the pieces of a threshold, in any order.
fn nearly(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => proptest::sample::select(pieces).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn aggregates() -> impl Strategy<Value = String> {
    let quantile = (0.0..=100.0_f64).prop_map(|percent| format!("p({percent})"));
    prop_oneof![
        proptest::sample::select(&["count", "rate", "value", "avg", "min", "max", "med"][..])
            .prop_map(str::to_owned),
        quantile
    ]
}

#[test]
fn text_of_any_kind_is_a_threshold_or_a_mistake_that_names_it() {
    const KEYS: &[&str] =
        &["http_reqs", "{", "}", ":", ",", "\"", "'", "name", " ", "http://a:1/b", "é", "::"];
    const SOURCES: &[&str] = &[
        "p(", ")", "95", "99.9", "count", "rate", "<", ">", "=", "!", "===", "1e309", "-", "NaN",
        " ", "\t", "é", ".",
    ];
    holds("threshold parser", &(nearly(KEYS), nearly(SOURCES)), |(key, source)| {
        match Threshold::parse(&key, &source) {
            Ok(threshold) => prop_assert!(threshold.key == key && threshold.source == source),
            Err(mistake) => prop_assert!(mistake.contains(&key), "{mistake}"),
        }
        Ok(())
    });
}

#[test]
fn what_is_written_is_what_is_read() {
    let expressions = (
        aggregates(),
        proptest::sample::select(&COMPARISONS[..]),
        any::<f64>().prop_filter("a limit", |limit| limit.is_finite()),
    );
    // What stands around a value in a key is no part of it, nor is what looks like the next tag.
    let values = "[a-zA-Z/?=&][ -+\\--z,]{0,20}[a-z/]"
        .prop_filter("no other tag", |value| !value.contains(['\'', '"', ',']));
    let tags = proptest::collection::vec(("[a-z_]{1,8}", values), 0..4);
    holds(
        "threshold round trip",
        &(expressions, "[a-z_]{1,20}", tags, " ?"),
        |((aggregate, (sign, comparison), limit), metric, tags, space)| {
            let inner: Vec<String> =
                tags.iter().map(|(name, value)| format!("{name}:{value}")).collect();
            let key = if tags.is_empty() {
                metric.clone()
            } else {
                format!("{metric}{{{}}}", inner.join(","))
            };
            let source = format!("{aggregate}{space}{sign}{space}{limit}");
            let read = Threshold::parse(&key, &source).map_err(TestCaseError::fail)?;
            prop_assert_eq!(Some(read.aggregate), Aggregate::parse(&aggregate));
            prop_assert_eq!((read.comparison, read.limit), (comparison, limit));
            prop_assert_eq!((&read.metric, &read.tags), (&metric, &tags));
            prop_assert_eq!(parse_key(&key), Ok((metric, tags)));
            Ok(())
        },
    );
}

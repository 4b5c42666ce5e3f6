use super::*;
use plimsoll_core::record::{Kind, Recorder};

fn tap(length: usize) -> (BatchTap, Receiver<Option<Batch>>, Arc<AtomicU64>) {
    let (sender, batches) = sync_channel(length);
    let lost = Arc::new(AtomicU64::new(0));
    let batch = Batch {
        source: 0,
        metrics: Vec::new(),
        tag_sets: Vec::new(),
        moments: Vec::new(),
        values: Vec::new(),
    };
    (BatchTap { batch, sender, lost: lost.clone(), origin: Rc::default() }, batches, lost)
}

#[test]
fn samples_that_nobody_takes_are_counted_and_what_later_ones_refer_to_is_kept() {
    let (tap, batches, lost) = tap(1);
    let mut recorder = Recorder::new();
    recorder.attach(Box::new(tap));
    let mut record = |metric: &str, name: &str, times: usize| {
        let metric = recorder.metric(metric, Kind::Counter, false).unwrap();
        let tags = recorder.tag_set(&[("name", name)]);
        (0..times).for_each(|_| recorder.add(metric, tags, 1.0));
        recorder.take();
    };
    record("a", "x", 3);
    record("b", "y", 5);
    let first = batches.recv().unwrap().unwrap();
    record("b", "y", 2);
    let last = batches.recv().unwrap().unwrap();
    assert_eq!((first.values.len(), last.values.len(), lost.load(Ordering::Relaxed)), (3, 2, 5));
    let names: Vec<&str> =
        first.metrics.iter().chain(&last.metrics).map(|metric| metric.name.as_str()).collect();
    assert_eq!((names, last.tag_sets[0].get("name")), (vec!["a", "b"], Some("y")));
}

#[test]
fn decimals_are_those_of_the_general_way() {
    for value in [
        0.0,
        1.0,
        -1.5,
        0.1,
        0.157_981,
        123_456_789.25,
        0.000_001,
        4.2e-7,
        -0.000_000_4,
        8_999_999_999.0,
        10.0,
        100.5,
    ] {
        let decimal = Decimal::of(value).unwrap();
        let wanted = format!("{:.6}", (value * 1e6).round() / 1e6).replace("-0.000000", "0.000000");
        assert_eq!(std::str::from_utf8(decimal.whole()).unwrap(), wanted);
        let trimmed: f64 = std::str::from_utf8(decimal.trimmed()).unwrap().parse().unwrap();
        assert_eq!(trimmed, wanted.parse::<f64>().unwrap());
    }
    assert_eq!(Decimal::of(100.0).unwrap().trimmed(), b"100");
    assert!(
        Decimal::of(f64::NAN).is_none()
            && Decimal::of(f64::INFINITY).is_none()
            && Decimal::of(9e9).is_none()
    );
}

#[test]
fn tags_are_those_of_k6() {
    let tags = |pairs: &[(&str, &str)]| {
        Tags(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    };
    let request = tags(&[("name", "X"), ("proto", ""), ("scenario", "s")]);
    assert_eq!(
        k6_tags(&request, &["group", "name", "scenario", "url"]),
        [("group", ""), ("name", "X"), ("scenario", "s"), ("url", "X")]
    );
    assert_eq!(k6_tags(&request, &["url"]), [("scenario", "s"), ("url", "X")]);
    assert_eq!(k6_tags(&tags(&[("group", "::setup")]), &["group"]), [("group", "::setup")]);
}

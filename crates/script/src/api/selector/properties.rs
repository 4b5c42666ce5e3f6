//! Selectors over generated documents and paths (`make fuzz`).

use plimsoll_fuzz::holds;
use plimsoll_fuzz::proptest::{self, prelude::*};
use serde_json::{json, Map, Value};

use super::{find, IgnoredAny};

const NAMES: &[&str] =
    &["a", "b", "name", "items", "fav.movie", "0", "é", "", "x y", "#", "*", "@this"];
const PIECES: &[&str] = &[
    "a",
    "b",
    "name",
    "items",
    ".",
    ".",
    "|",
    "#",
    "0",
    "1",
    "99999999999999999999",
    "-1",
    "*",
    "?",
    "\\",
    "@this",
    "@reverse",
    "@flatten",
    "@join",
    "@keys",
    "@values",
    "@pretty",
    "@ugly",
    "@valid",
    "@tostr",
    "@fromstr",
    ":",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "#(",
    ")#",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "%",
    "!%",
    "\"",
    "\"a\"",
    ",",
    "!",
    "~",
    "true",
    " ",
    "é",
    "{\"a\":1}",
];

fn documents() -> impl Strategy<Value = Value> {
    let text = prop_oneof![proptest::sample::select(NAMES).prop_map(str::to_owned), ".{0,8}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let named = (proptest::sample::select(NAMES).prop_map(str::to_owned), inner.clone());
        let fields = proptest::collection::vec(named, 0..6)
            .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()));
        prop_oneof![proptest::collection::vec(inner, 0..5).prop_map(Value::from), fields]
    })
}

fn selectors() -> impl Strategy<Value = String> {
    let piece = prop_oneof![6 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// A document's text, and bytes that are nearly one: cut off or with a byte changed.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    (documents(), any::<bool>(), any::<proptest::sample::Index>(), any::<u8>(), 0..4_u8).prop_map(
        |(document, pretty, at, byte, change)| {
            let text = if pretty {
                serde_json::to_string_pretty(&document)
            } else {
                serde_json::to_string(&document)
            };
            let mut bytes = text.unwrap_or_default().into_bytes();
            let at = at.index(bytes.len());
            match change {
                0 => bytes.truncate(at),
                1 => bytes[at] = byte,
                _ => {}
            }
            bytes
        },
    )
}

#[test]
fn a_selector_of_any_kind_finds_something_or_nothing() {
    holds("selector", &(bodies(), selectors()), |(body, selector)| {
        let found = find(&body, &selector);
        // A number may be too large for any type, as in JavaScript, so nothing is made of the text.
        prop_assert!(found.is_none() || serde_json::from_slice::<IgnoredAny>(&body).is_ok());
        Ok(())
    });
}

#[test]
fn a_path_of_names_and_indexes_finds_what_is_there() {
    let steps = proptest::collection::vec(any::<proptest::sample::Index>(), 1..5);
    holds(
        "selector of names",
        &(documents(), steps, any::<bool>()),
        |(document, steps, pretty)| {
            let (mut at, mut path) = (&document, Vec::new());
            for step in steps {
                match at {
                    Value::Object(fields) if !fields.is_empty() => {
                        let (name, value) = fields
                            .iter()
                            .nth(step.index(fields.len()))
                            .ok_or_else(|| TestCaseError::fail("no such field"))?;
                        path.push(
                            name.chars()
                                .flat_map(|letter| {
                                    [Some('\\').filter(|_| !letter.is_alphanumeric()), Some(letter)]
                                })
                                .flatten()
                                .collect::<String>(),
                        );
                        at = value;
                    }
                    Value::Array(rows) if !rows.is_empty() => {
                        let index = step.index(rows.len());
                        path.push(index.to_string());
                        at = &rows[index];
                    }
                    _ => break,
                }
            }
            // A path without a name says nothing, and gjson has none for the name "".
            prop_assume!(!path.is_empty() && !path.iter().any(String::is_empty));
            let body = if pretty {
                serde_json::to_vec_pretty(&document)
            } else {
                serde_json::to_vec(&document)
            }
            .unwrap_or_default();
            let found = find(&body, &path.join("."));
            let value =
                found.as_deref().and_then(|found| serde_json::from_str::<Value>(found).ok());
            prop_assert_eq!(value, Some(at.clone()), "{} in {}", path.join("."), json!(document));
            Ok(())
        },
    );
}

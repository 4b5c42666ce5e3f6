//! `response.json(selector)`: gjson's path language.

use rquickjs::{Ctx, Result, Value};
use serde::de::IgnoredAny;

use crate::runtime::json;

/// What the selector finds in a body; undefined if it finds nothing, or the body is not JSON.
pub fn select<'js>(ctx: &Ctx<'js>, body: &[u8], selector: &str) -> Result<Value<'js>> {
    match find(body, selector) {
        Some(found) => json::parse(ctx, found.as_bytes()),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// The JSON that a selector finds. gjson takes for granted that its input is JSON, so that is looked at first.
fn find(body: &[u8], selector: &str) -> Option<String> {
    let text = std::str::from_utf8(body)
        .ok()
        .filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())?;
    let found = gjson::get(text, selector);
    found.exists().then(|| found.json().to_owned())
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"name": {"first": "Tom"}, "age": 37, "children": ["Sara", "Alex", "Jack"], "fav.movie": "Deer Hunter",
        "friends": [{"first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"]},
                    {"first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"]},
                    {"first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"]}]}"#;

    #[test]
    fn paths_of_gjsons_documentation_find_what_it_says() {
        for (selector, found) in [
            ("name.first", r#""Tom""#),
            ("child*.2", r#""Jack""#),
            ("c?ildren.0", r#""Sara""#),
            (r"fav\.movie", r#""Deer Hunter""#),
            ("friends.#.first", r#"["Dale","Roger","Jane"]"#),
            (r#"friends.#(last=="Murphy").first"#, r#""Dale""#),
            (r#"friends.#(last=="Murphy")#.first"#, r#"["Dale","Jane"]"#),
            ("friends.#(age>45)#.last", r#"["Craig","Murphy"]"#),
            (r#"friends.#(first%"D*").last"#, r#""Murphy""#),
            (r#"friends.#(nets.#(=="fb"))#.first"#, r#"["Dale","Roger"]"#),
            ("children|@reverse", r#"["Jack","Alex","Sara"]"#),
            ("children.@reverse.0", r#""Jack""#),
            ("friends.#", "3"),
        ] {
            let got = find(DOCUMENT.as_bytes(), selector).map(|got| got.replace(' ', ""));
            assert_eq!(got.as_deref(), Some(found.replace(' ', "").as_str()), "{selector}");
        }
    }

    #[test]
    fn nothing_is_found_in_what_is_no_json_or_lacks_the_name() {
        for (body, selector) in
            [("{", "a|@this"), ("{\"a\": 1}", "b*"), ("", "*"), ("[1,2]", "#(>5)")]
        {
            assert_eq!(find(body.as_bytes(), selector), None, "{body} {selector}");
        }
    }
}

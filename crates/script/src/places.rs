//! Places in a script, as JavaScript's stacks tell them.

use rquickjs::{Ctx, Exception};

use crate::bundle::Bundle;

/// File and line of the innermost frame of a stack that is the script's own.
pub fn place_in_script(stack: &str) -> Option<(String, usize)> {
    stack.lines().filter_map(place_in_frame).find(|(file, _)| file.starts_with('/'))
}

/// The line of the script that is calling a native function now: `file:line` and the line itself.
pub fn place_of_call(ctx: &Ctx<'_>, bundle: &Bundle) -> Option<String> {
    let stack = Exception::from_message(ctx.clone(), "").ok()?.stack()?;
    let (file, line) = place_in_script(&stack)?;
    let text = bundle.snippet(&file, line).unwrap_or_default();
    Some(format!("{file}:{line}\n    {}", text.trim_start()))
}

/// Reads `at name (file:line:column)` or `at file:line:column`.
fn place_in_frame(frame: &str) -> Option<(String, usize)> {
    let place = frame.trim().strip_prefix("at ")?;
    let place = place.rsplit_once('(').map_or(place, |(_, inner)| inner.trim_end_matches(')'));
    let (rest, _column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?))
}

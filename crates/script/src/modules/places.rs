//! Places in a script, as JavaScript's stacks tell them.

use std::path::Path;

use rquickjs::{Ctx, Exception};

use crate::modules::bundle::Bundle;
use crate::modules::commonjs;

/// File and line of the innermost frame of a stack that is the script's own.
pub fn place_in_script(stack: &str, bundle: &Bundle) -> Option<(String, usize)> {
    let (file, line, column) =
        stack.lines().filter_map(place_in_frame).find(|(file, ..)| file.starts_with('/'))?;
    let line = bundle.source_line(&file, line, column);
    Some((file, line))
}

/// The line of the script that is calling a native function now: `file:line` and the line itself.
pub fn place_of_call(ctx: &Ctx<'_>, bundle: &Bundle) -> Option<String> {
    let stack = Exception::from_message(ctx.clone(), "").ok()?.stack()?;
    let (file, line) = place_in_script(&stack, bundle)?;
    let text = bundle.snippet(&file, line).unwrap_or_default();
    Some(format!("{file}:{line}\n    {}", text.trim_start()))
}

/// Reads `at name (file:line:column)` or `at file:line:column`.
fn place_in_frame(frame: &str) -> Option<(String, usize, usize)> {
    let place = frame.trim().strip_prefix("at ")?;
    let place = place.rsplit_once('(').map_or(place, |(_, inner)| inner.trim_end_matches(')'));
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?, column.parse().ok()?))
}

/// What QuickJS says of an import of what is not exported, with the place of that import: message, file and line.
pub fn missing_export(message: &str, bundle: &Bundle) -> Option<(String, String, usize)> {
    let said = message.strip_prefix("SyntaxError: Could not find export '")?;
    let (export, module) = said.split_once("' in module '")?;
    let module = module.strip_suffix('\'')?;
    let module = module.strip_prefix(commonjs::PREFIX).unwrap_or(module);
    // QuickJS shortens long names, so that several modules may be meant; one that has the word is a worse guess.
    let mut found: Vec<(bool, String, String, usize)> = bundle
        .imports_of(module)
        .into_iter()
        .filter_map(|(file, name, target)| {
            let line = line_importing(&bundle.source(Path::new(&file)).ok()?, &name, export)?;
            let has_word = bundle
                .source(Path::new(&target))
                .is_ok_and(|source| word_in(&source, export).is_some());
            Some((has_word, file, name, line))
        })
        .collect();
    found.sort();
    let (_, file, name, line) = found.into_iter().next()?;
    let what = if export == "default" { "has no default export" } else { "does not export it" };
    Some((format!("cannot import '{export}': '{name}' {what}"), file, line))
}

/// The line (from 1) of an import or export statement from the module `name` that has `export` in it.
fn line_importing(source: &str, name: &str, export: &str) -> Option<usize> {
    let quoted = ['\'', '"'].map(|quote| format!("{quote}{name}{quote}"));
    let ends = quoted.iter().flat_map(|quoted| source.match_indices(quoted)).map(|(at, _)| at);
    let starts = ends.filter_map(|end| {
        let start = source[..end].rfind("import").max(source[..end].rfind("export"))?;
        match export {
            "default" => Some(start),
            _ => word_in(&source[start..end], export).map(|at| start + at),
        }
    });
    starts.min().map(|at| source[..at].matches('\n').count() + 1)
}

/// Where a text has a word.
fn word_in(text: &str, word: &str) -> Option<usize> {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let alone =
        |at: &usize| !text[..*at].ends_with(part) && !text[at + word.len()..].starts_with(part);
    text.match_indices(word).map(|(at, _)| at).find(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_import_is_that_of_the_name() {
        let source = "import a from './x.js';\nimport {\n  b,\n  cd as c,\n} from \"./y.js\";\nexport { e } from './y.js';\n";
        assert_eq!(line_importing(source, "./x.js", "default"), Some(1));
        assert_eq!(line_importing(source, "./y.js", "cd"), Some(4));
        assert_eq!(line_importing(source, "./y.js", "e"), Some(6));
        assert_eq!(line_importing(source, "./z.js", "e"), None);
    }
}

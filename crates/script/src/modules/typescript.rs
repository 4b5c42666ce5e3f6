//! TypeScript as JavaScript, and what a file is, by oxc's parser: types go, enums, namespaces and parameter properties
//! become code, imports that only types use are dropped. As in k6, types are not checked.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

/// JavaScript made of TypeScript, with the lines that its places come from.
pub struct Made {
    pub code: String,
    pub is_module: bool,
    pub lines: Lines,
}

/// Where each piece of made code comes from: line and column there (from 0), and the line in the source (from 0).
#[derive(Default)]
pub struct Lines(Vec<(u32, u32, u32)>);

impl Lines {
    /// The line in the source (from 1) of a line and column in the made code (both from 1).
    pub fn of(&self, line: usize, column: usize) -> usize {
        let wanted = (line.saturating_sub(1) as u32, column.saturating_sub(1) as u32);
        let after = self.0.partition_point(|(line, column, _)| (*line, *column) <= wanted);
        self.0.get(after.saturating_sub(1)).map_or(line, |(_, _, source)| *source as usize + 1)
    }
}

/// A mistake of syntax: where in the source (from 0, in bytes) and what.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    pub at: usize,
    pub message: String,
}

fn mistake(errors: &[OxcDiagnostic]) -> Option<Mistake> {
    let first = errors.first()?;
    let at =
        first.labels.as_ref().and_then(|labels| labels.first()).map_or(0, |label| label.offset());
    Some(Mistake { at, message: first.message.to_string() })
}

/// Makes JavaScript of TypeScript.
pub fn to_javascript(path: &Path, source: &str) -> Result<Made, Mistake> {
    let memory = Allocator::default();
    let parsed = Parser::new(&memory, source, SourceType::ts()).parse();
    let is_module = parsed.module_record.has_module_syntax;
    let mut program: Program<'_> = parsed.program;
    let scopes = SemanticBuilder::new().build(&program).semantic.into_scoping();
    let made = Transformer::new(&memory, path, &TransformOptions::default())
        .build_with_scoping(scopes, &mut program);
    if let Some(mistake) = mistake(&parsed.errors).or_else(|| mistake(&made.errors)) {
        return Err(mistake);
    }
    let options =
        CodegenOptions { source_map_path: Some(path.to_owned()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
    let lines = Lines(
        tokens
            .map(|token| (token.get_dst_line(), token.get_dst_col(), token.get_src_line()))
            .collect(),
    );
    Ok(Made { code: printed.code, is_module, lines })
}

/// Whether JavaScript imports or exports anything; what does neither is CommonJS. Mistakes are left to QuickJS.
pub fn is_module(source: &str) -> bool {
    if !source.contains("import") && !source.contains("export") {
        return false;
    }
    let memory = Allocator::default();
    let parsed = Parser::new(&memory, source, SourceType::mjs()).parse();
    parsed.module_record.has_module_syntax || (parsed.panicked && has_statement(source))
}

/// For a file that cannot be parsed: whether a line begins as an import or export does.
fn has_statement(source: &str) -> bool {
    source.lines().any(|line| {
        line.starts_with("import ")
            || line.starts_with("export ")
            || line.starts_with("import{")
            || line.starts_with("export{")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(source: &str) -> Made {
        to_javascript(Path::new("/script.ts"), source)
            .unwrap_or_else(|mistake| panic!("{mistake:?}"))
    }

    #[test]
    fn types_go_and_their_imports_with_them() {
        let made =
            made("import { Options } from 'k6/options';\nimport type { A } from './a';\nexport const options: Options = { vus: 1 as number };\n");
        assert!(made.is_module);
        assert!(!made.code.contains("import") && !made.code.contains("number"), "{}", made.code);
        assert!(made.code.contains("vus: 1"), "{}", made.code);
    }

    #[test]
    fn enums_namespaces_and_parameter_properties_become_code() {
        let code = made("enum E { A, B = 'x' } namespace N { export const q = 4; } class P { constructor(public n: number) {} }").code;
        assert!(code.contains("E[\"A\"]") && code.contains("this.n = n"), "{code}");
    }

    #[test]
    fn places_are_those_of_the_source() {
        let made = made("interface A {\n  x: number;\n}\n\nexport default function () {\n  throw new Error('line 6');\n}\n");
        let (at, line) =
            made.code.lines().enumerate().find(|(_, line)| line.contains("throw")).unwrap();
        assert_eq!(made.lines.of(at + 1, line.find("throw").unwrap() + 1), 6);
    }

    #[test]
    fn a_mistake_tells_its_place() {
        let mistake =
            to_javascript(Path::new("/script.ts"), "const a = 1;\nconst b: = 4;\n").err().unwrap();
        assert_eq!(mistake.at, 22, "{mistake:?}");
    }

    #[test]
    fn what_imports_or_exports_is_a_module() {
        for module in [
            "export const a = 1",
            "import 'x';",
            "/* exports */ export default 1",
            "import x from 'y'\nfoo(]",
        ] {
            assert!(is_module(module), "{module}");
        }
        for other in [
            "exports.a = 1; // import x from 'y'",
            "module.exports = 'export default 1'",
            "import('x')",
            "",
        ] {
            assert!(!is_module(other), "{other}");
        }
    }
}

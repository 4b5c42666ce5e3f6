"""What a script may import: TypeScript, CommonJS, packages, remote modules that lie here; mistakes and their places."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine import EngineConfig, EngineRun
from plimsoll.errors import InputError

VENDORED = "vendor/jslib.k6.io/k6-utils/1.4.0"
JSLIB = "https://jslib.k6.io/k6-utils/1.4.0/index.js"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def failed_checks(folder: Path, main: str = "script.js", **config: Any) -> list[str]:
    run = EngineRun(EngineConfig(script=folder / main, options={"iterations": 2, "vus": 2}, **config)).begin()
    list(run.snapshots())
    checks: list[dict[str, Any]] = run.result()["summary"]["root_group"]["checks"]
    assert checks
    return [check["name"] for check in checks if check["fails"] or check["passes"] != 2]


def mistake(folder: Path, main: str = "script.js", **config: Any) -> str:
    with pytest.raises(InputError) as raised:
        EngineRun(EngineConfig(script=folder / main, **config))
    return str(raised.value)


def test_typescript_runs_with_its_lines(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        tmp_path,
        {
            "script.ts": """import { check } from 'k6';
import { Options } from 'k6/options';
import type { Nothing } from './nowhere';
import total, { Colour, Point, type Shape } from './lib/shapes.ts';

export const options: Options = { iterations: 2 };

interface Given {
  n: number;
}

export default function (): void {
  const given = { n: 2 } as Given;
  const shape: Shape = { side: given!.n };
  check(shape, {
    enum: () => Colour.Blue === 2 && Colour[2] === 'Blue',
    'parameter property': () => new Point(3).x === 3,
    generic: (s: Shape): boolean => total<number>([s.side, 1]) === 3,
  });
  throw new Error('line 20');
}
""",
            "lib/shapes.ts": """export enum Colour { Red = 1, Blue }
export interface Shape { side: number }
export class Point { constructor(public readonly x: number, private y?: number) {} }
export default function total<T extends number>(all: T[]): number {
  return all.reduce((sum: number, one) => sum + one, 0);
}
""",
        },
    )
    assert failed_checks(tmp_path, "script.ts") == []
    assert f"{tmp_path}/script.ts:20: line 20\n    throw new Error('line 20');" in re.sub(
        r"\n +", "\n    ", capfd.readouterr().err
    )


def test_a_mistake_in_typescript_names_its_line(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"script.js": "import './lib/bad.ts';\nexport default () => {};", "lib/bad.ts": "let a = 1;\n\nlet b: = 2;\n"},
    )
    assert f"{tmp_path}/lib/bad.ts:3: this is no TypeScript" in mistake(tmp_path)


COMMON = {
    "lib/plain.js": "exports.named = 5; exports.kinds = [typeof module, typeof require, this === exports].join();",
    "lib/function.js": "module.exports = function () { return 9; };\nmodule.exports.property = 3;",
    "lib/babel.js": "exports.__esModule = true;\nexports.default = () => 7;\nexports.n = 1;",
    "lib/umd.js": """(function (root, factory) {
  if (typeof exports === 'object' && typeof module !== 'undefined') module.exports = factory();
  else if (typeof define === 'function' && define.amd) define(factory);
  else root.Umd = factory();
})(typeof self !== 'undefined' ? self : this, function () { return { name: 'umd' }; });""",
    "lib/early.js": "exports.early = 1;\nconst late = require('./late.js');\nexports.seen = late.seen;",
    "lib/late.js": "const early = require('./early.js');\nexports.seen = Object.keys(early).join();",
    "lib/esm.js": "export const a = 1;\nexport default 'D';",
    "lib/data.json": '{"rows": [1, 2]}',
    "lib/once.js": "globalThis.runs = (globalThis.runs || 0) + 1;\nmodule.exports = globalThis.runs;",
}


def test_commonjs_and_modules_use_each_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        COMMON
        | {
            "script.js": """import { check } from 'k6';
import plain, { named } from './lib/plain.js';
import * as all from './lib/plain.js';
import nine, { property } from './lib/function.js';
import seven, { n } from './lib/babel.js';
import umd, { name } from './lib/umd.js';
import cycle from './lib/early.js';
import once from './lib/once.js';
const required = require('./lib/plain.js');
const module_ = require('./lib/esm.js');
const babel = require('./lib/babel.js');
const data = require('./lib/data.json');
const { sleep } = require('k6');
const http = require('k6/http');
export default function () {
  let refused = '';
  try { require('./lib/plain.js'); } catch (error) { refused = error.message; }
  check(null, {
    named: () => named === 5 && plain.named === 5 && all.named === 5 && all.default === plain,
    kinds: () => plain.kinds === 'object,function,true',
    function: () => nine() === 9 && property === 3,
    babel: () => seven() === 7 && n === 1 && babel.default() === 7,
    umd: () => umd.name === 'umd' && name === 'umd',
    cycle: () => cycle.seen === 'early',
    once: () => once === 1 && require.length >= 0 && globalThis.runs === 1,
    require: () => required === plain && module_.a === 1 && module_.default === 'D',
    json: () => data.rows.length === 2,
    builtin: () => typeof sleep === 'function' && typeof http.get === 'function',
    'in init only': () => refused.startsWith('require() works only in the init context'),
  });
}
"""
        },
    )
    assert failed_checks(tmp_path) == []


def test_a_whole_script_may_be_commonjs(tmp_path: Path) -> None:
    write(
        tmp_path,
        COMMON
        | {
            "script.js": """const { check } = require('k6');
const esm = require('./lib/esm.js');
module.exports.setup = () => ({ n: 4 });
exports.default = function (data) { check(data, { data: (d) => d.n === 4, esm: () => esm.a === 1 }); };
"""
        },
    )
    assert failed_checks(tmp_path) == []


def test_import_and_require_in_a_circle_say_so(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "script.js": "import { f } from './lib/module.js';\nexport default f;",
            "lib/module.js": "import { m } from './common.js';\nexport const f = () => m;",
            "lib/common.js": "\nconst other = require('./module.js');\nexports.m = other;",
        },
    )
    said = mistake(tmp_path)
    assert "need each other, and one of them uses require()" in said, said


def test_a_throwing_commonjs_file_names_its_line(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "script.js": "import x from './lib/bad.js';\nexport default () => {};",
            "lib/bad.js": "exports.a = 1;\n\nnoSuchName();\n",
        },
    )
    assert f"{tmp_path}/lib/bad.js:3: ReferenceError" in mistake(tmp_path)


PACKAGES = {
    "node_modules/simple/package.json": '{"main": "./lib/main"}',
    "node_modules/simple/lib/main.js": "module.exports = { inner: require('./inner'), folder: require('./folder') };",
    "node_modules/simple/lib/inner.js": "module.exports = 'inner';",
    "node_modules/simple/lib/folder/index.js": "module.exports = 'folder';",
    "node_modules/@scope/both/package.json": json.dumps(
        {
            "exports": {
                ".": {"import": "./esm.mjs", "require": "./common.cjs"},
                "./sub/*": "./src/*.js",
            }
        }
    ),
    "node_modules/@scope/both/esm.mjs": "import simple from 'simple';\nexport const kind = 'esm ' + simple.inner;",
    "node_modules/@scope/both/common.cjs": "exports.kind = 'common';",
    "node_modules/@scope/both/src/part.js": "export default 'part';",
    "node_modules/outer/index.js": "module.exports = 'outer';",
    "node_modules/events/index.js": "module.exports = 'a package, not of Node';",
}


def test_packages_are_found_as_node_finds_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        PACKAGES
        | {
            "deep/tests/script.js": """import { check } from 'k6';
import simple from 'simple';
import { kind } from '@scope/both';
import part from '@scope/both/sub/part';
import outer from 'outer';
import nearest from 'nearest';
import events from 'events';
const common = require('@scope/both');
export default () => {
  check(null, {
    main: () => simple.inner === 'inner' && simple.folder === 'folder',
    conditions: () => kind === 'esm inner' && common.kind === 'common',
    pattern: () => part === 'part',
    above: () => outer === 'outer',
    nearest: () => nearest === 'here',
    'like a module of Node': () => events === 'a package, not of Node',
  });
};
""",
            "deep/node_modules/nearest/index.js": "module.exports = 'here';",
            "node_modules/nearest/index.js": "module.exports = 'above';",
        },
    )
    assert failed_checks(tmp_path / "deep/tests") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import x from 'missing';", "script.js:2: cannot import 'missing': there is no node_modules/missing in"),
        ("import fs from 'fs';", "script.js:2: cannot import 'fs': it is a module of Node.js"),
        (
            "import fs from 'node:fs/promises';",
            "script.js:2: cannot import 'node:fs/promises': it is a module of Node.js",
        ),
        ("import x from 'k6/nothing';", "script.js:2: cannot import 'k6/nothing': supported are k6, k6/http"),
        ("import x from '@scope/both/other';", "exports no './other'"),
        ("import x from './lib/esm';", "does not exist; k6 wants the whole name of a file: did you mean"),
        ("import x from './lib';", "is a folder; name a file in it"),
        ("import x from './nowhere.js';", "nowhere.js (No such file or directory (os error 2)); check the path"),
        (
            "import { nope } from './lib/esm.js';",
            "script.js:2: cannot import 'nope': './lib/esm.js' does not export it",
        ),
        ("import {\n  a,\n  nope,\n} from './lib/esm.js';", "script.js:4: cannot import 'nope'"),
        ("import x from './lib/named.js';", "script.js:2: cannot import 'default': './lib/named.js' has no default"),
        ("import { nope } from './lib/plain.js';", "script.js:2: cannot import 'nope': './lib/plain.js' does not"),
        ("import { nope } from 'k6/http';", "script.js:2: cannot import 'nope': 'k6/http' does not export it"),
        ("import { re } from './lib/re.js';", "lib/re.js:1: cannot import 'gone': './esm.js' does not export it"),
        ("import './lib/syntax.js';", "lib/syntax.js:2: SyntaxError"),
        ("const x = require('./nowhere.js');", "script.js:2: cannot import './nowhere.js'"),
    ],
)
def test_what_cannot_be_imported_says_why_and_where(tmp_path: Path, line: str, message: str) -> None:
    write(
        tmp_path,
        COMMON
        | PACKAGES
        | {
            "script.js": f"import {{ check }} from 'k6';\n{line}\nexport default () => {{}};",
            "lib/named.js": "export const x = 1;",
            "lib/re.js": "export { gone as re } from './esm.js';",
            "lib/syntax.js": "export const a = 1;\nexport const b = ;\n",
        },
    )
    said = mistake(tmp_path)
    assert message in said, said


USE_ONE = f"""import {{ check }} from 'k6';
import {{ one }} from '{JSLIB}';
export default () => {{ check(one, {{ one: (n) => n === 1 }}); }};
"""


def test_a_remote_module_is_looked_for_in_the_vendor_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "script.js": USE_ONE,
            f"{VENDORED}/index.js": "export { one } from './part.js';",
            f"{VENDORED}/part.js": "import { two } from '/shared.js';\nexport const one = two - 1;",
            "vendor/jslib.k6.io/shared.js": "export const two = 2;",
        },
    )
    assert failed_checks(tmp_path) == []


def test_a_remote_module_that_is_not_here_tells_how_to_get_it(tmp_path: Path) -> None:
    write(tmp_path, {"script.js": USE_ONE})
    said = mistake(tmp_path)
    place = f"{tmp_path}/vendor/jslib.k6.io/k6-utils/1.4.0/index.js"
    assert f"script.js:2: cannot import '{JSLIB}'" in said
    assert f"curl --create-dirs -fsSLo '{place}' '{JSLIB}'" in said and "plimsoll.importmap.json" in said


def test_an_import_map_names_files_with_their_hashes(tmp_path: Path) -> None:
    text = "export const one = 1;"
    digest = hashlib.sha256(text.encode()).hexdigest()
    import_map = {"imports": {JSLIB: {"path": "lib/utils.js", "sha256": digest}}}
    write(tmp_path, {"script.js": USE_ONE, "lib/utils.js": text, "plimsoll.importmap.json": json.dumps(import_map)})
    assert failed_checks(tmp_path) == []
    (tmp_path / "lib/utils.js").write_text(text + " // changed")
    said = mistake(tmp_path)
    assert digest in said and hashlib.sha256((text + " // changed").encode()).hexdigest() in said
    assert "record its new hash" in said


def test_an_import_map_elsewhere_is_used_when_it_is_named(tmp_path: Path) -> None:
    import_map = {"imports": {JSLIB: {"path": "one.js"}}}
    write(
        tmp_path,
        {"tests/script.js": USE_ONE, "maps/one.js": "export const one = 1;", "maps/map.json": json.dumps(import_map)},
    )
    asked = {"import_map": tmp_path / "maps/map.json"}
    digest = hashlib.sha256(b"export const one = 1;").hexdigest()
    assert f'write "sha256": "{digest}" into its entry' in mistake(tmp_path / "tests", **asked)
    import_map["imports"][JSLIB]["sha256"] = digest
    (tmp_path / "maps/map.json").write_text(json.dumps(import_map))
    assert failed_checks(tmp_path / "tests", **asked) == []
    (tmp_path / "maps/map.json").write_text('{"imports": {\n  "x": 1}}')
    assert "map.json:2: the import map is not as it should be" in mistake(tmp_path / "tests", **asked)


def test_import_meta_tells_where_a_module_is(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "script.js": """import { check } from 'k6';
import { url } from './lib/where.js';
import absolute from 'file://"""
            + str(tmp_path)
            + """/lib/value.js';
import data from './lib/data.json';
export default () => check(null, {
  url: () => import.meta.url.endsWith('/script.js') && url.endsWith('/lib/where.js') && url.startsWith('file:///'),
  resolve: () => import.meta.resolve('./lib/x.js') === url.replace('/where.js', '/x.js'),
  'a name stays': () => import.meta.resolve('k6/http') === 'k6/http',
  file: () => absolute === 3,
  json: () => data.rows[1] === 2,
});
""",
            "lib/where.js": "export const url = import.meta.url;",
            "lib/value.js": "export default 3;",
            "lib/data.json": '{"rows": [1, 2]}',
        },
    )
    assert failed_checks(tmp_path) == []

"""Test plans of JMeter for tests, written as JMeter writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr


def element(kind: str, name: str = "", *, below: str = "", on: bool = True, inner: str = "", **props: object) -> str:
    """An element with its properties, whose names have dots for double underscores, and what stands below it."""
    texts = "".join(
        f"<{_tag(value)} name={quoteattr(key.replace('__', '.'))}>{escape(_text(value))}</{_tag(value)}>"
        for key, value in props.items()
    )
    gui = {"ConfigTestElement": "HttpDefaultsGui", "HTTPSamplerProxy": "HttpTestSampleGui"}.get(kind, "TestBeanGUI")
    known = {"guiclass": gui, "testclass": kind, "testname": name, "enabled": _text(on)}
    head = f"<{kind} {' '.join(f'{key}={quoteattr(value)}' for key, value in known.items())}>"
    return f"{head}{texts}{inner}</{kind}><hashTree>{below}</hashTree>"


def _tag(value: object) -> str:
    return "boolProp" if isinstance(value, bool) else "intProp" if isinstance(value, int) else "stringProp"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def arguments(pairs: Iterable[tuple[str, str]], *, encode: bool = False, name: str = "HTTPsampler.Arguments") -> str:
    """Arguments of a request, or variables."""
    rows = "".join(
        f'<elementProp name={quoteattr(key)} elementType="HTTPArgument">'
        f'<boolProp name="HTTPArgument.always_encode">{_text(encode)}</boolProp>'
        f'<stringProp name="Argument.name">{escape(key)}</stringProp>'
        f'<stringProp name="Argument.value">{escape(value)}</stringProp>'
        '<stringProp name="Argument.metadata">=</stringProp>'
        '<boolProp name="HTTPArgument.use_equals">true</boolProp></elementProp>'
        for key, value in pairs
    )
    collection = f'<collectionProp name="Arguments.arguments">{rows}</collectionProp>'
    return (
        f'<elementProp name={quoteattr(name)} elementType="Arguments">{collection}</elementProp>'
        if name
        else collection
    )


def sampler(method: str, path: str, *, below: str = "", given: str = "", name: str = "", **props: object) -> str:
    """An HTTP request."""
    known = {"HTTPSampler__path": path, "HTTPSampler__method": method, "HTTPSampler__follow_redirects": True, **props}
    return element("HTTPSamplerProxy", name or f"{method} {path}", below=below, inner=given, **known)


def body(text: str) -> str:
    """A raw body."""
    return '<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>' + arguments([("", text)])


def variables(**values: str) -> str:
    return element("Arguments", inner=arguments(values.items(), name=""))


def defaults(**props: object) -> str:
    return element("ConfigTestElement", **{f"HTTPSampler__{key}": value for key, value in props.items()})


def headers(values: Mapping[str, str]) -> str:
    rows = "".join(
        f'<elementProp name="" elementType="Header"><stringProp name="Header.name">{escape(key)}</stringProp>'
        f'<stringProp name="Header.value">{escape(value)}</stringProp></elementProp>'
        for key, value in values.items()
    )
    return element("HeaderManager", inner=f'<collectionProp name="HeaderManager.headers">{rows}</collectionProp>')


def assertion(field: str, kind: int, *texts: str, name: str = "Response Assertion") -> str:
    rows = "".join(f'<stringProp name="1">{escape(text)}</stringProp>' for text in texts)
    inner = f'<collectionProp name="Asserion.test_strings">{rows}</collectionProp>'
    props = {"Assertion__test_field": f"Assertion.{field}", "Assertion__test_type": kind}
    return element("ResponseAssertion", name, inner=inner, **props)


def threads(
    name: str, below: str, *, users: object = 1, loops: object = 1, kind: str = "ThreadGroup", **props: object
) -> str:
    """A thread group."""
    loop = (
        '<elementProp name="ThreadGroup.main_controller" elementType="LoopController">'
        '<boolProp name="LoopController.continue_forever">false</boolProp>'
        f'<stringProp name="LoopController.loops">{escape(str(loops))}</stringProp></elementProp>'
    )
    known = {"ThreadGroup__num_threads": str(users), "ThreadGroup__ramp_time": "0", **props}
    return element(kind, name, below=below, inner=loop, **known)


def plan(*parts: str) -> str:
    """A whole test plan."""
    tree = element("TestPlan", "Plan", below="".join(parts))
    root = f'<jmeterTestPlan version="1.2"><hashTree>{tree}</hashTree></jmeterTestPlan>'
    return f'<?xml version="1.0" encoding="UTF-8"?>{root}'


def written(folder: Path, *parts: str) -> Path:
    path = folder / "plan.jmx"
    path.write_text(plan(*parts))
    return path

"""The text under each field, read from the source when somebody wants to see it.

pydantic can collect these texts as it builds a class, but that parses every source file at
every start (22 ms here) and misses inherited fields; a Proxy that starts needs none of them.
"""

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache


def field_docs(cls: type) -> Mapping[str, str]:
    """Return the text under each field of a class, inherited ones included, each on one line."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] == __name__.partition(".")[0]:
            docs |= _docs_by_class(base.__module__).get(base.__name__, {})
    return docs


@cache
def _docs_by_class(module: str) -> Mapping[str, Mapping[str, str]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _docs(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _docs(node: ast.ClassDef) -> Mapping[str, str]:
    docs = {}
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(doc))),
            ):
                docs[name] = " ".join(doc.split())
            case _:
                pass
    return docs

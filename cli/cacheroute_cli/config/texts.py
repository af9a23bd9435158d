"""What is made of the table of keys: the file that `config init` writes, and the JSON Schema."""

from typing import Any

from cacheroute_cli.config.options import (
    CONTEXT_OPTIONS,
    CONTEXTS,
    KEYS,
    OPTIONS,
    TABLES,
    Option,
)
from cacheroute_cli.config.toml_edit import written

_EXAMPLE = {
    "current_context": "local",
    "scheduler_url": "http://127.0.0.1:7002",
    "output": "table",
    "ascii": True,
    "tui.columns": ("id", "state", "inflight", "score"),
}
"""What stands behind a key that has no default."""
_HEAD = """\
# Configuration of the CacheRoute console. Options and variables outrank it.
# 'cacheroute config show --origin' tells what holds, and who gave it.
"""


def template() -> str:
    """Return a file in which every key stands as a comment with its default."""
    in_files = [option for option in OPTIONS.values() if option.in_files]
    parts = [_HEAD, *(_commented(one, one.key) for one in in_files if "." not in one.key)]
    contexts = [f"# [{CONTEXTS}.lab]\n"]
    contexts += [f"# {key} = {_example_of(key)}  # {o.doc}\n" for key, o in CONTEXT_OPTIONS.items()]
    parts.append("".join(contexts))
    for table in TABLES:
        below = [one for one in in_files if one.key.startswith(f"{table}.")]
        lines = [_commented(one, one.key.partition(".")[2]) for one in below]
        parts.append(f"[{table}]\n" + "".join(lines))
    parts.append(f'[{KEYS}]\n# "screen.1" = "f1"\n')
    return "\n".join(parts)


def _commented(option: Option, key: str) -> str:
    value = option.default if option.default is not None else _EXAMPLE[option.key]
    return f"# {option.doc}\n# {key} = {written(value)}\n"


def _example_of(key: str) -> str:
    examples = {"label": "LAB", "color": "red", "token_file": "~/.cacheroute-token"}
    option = CONTEXT_OPTIONS[key]
    default = option.default if option.default is not None else _EXAMPLE.get(key)
    return written(examples.get(key, default))


def schema() -> dict[str, Any]:
    """Return what a file may hold, as JSON Schema."""
    in_files = [option for option in OPTIONS.values() if option.in_files]
    top = {one.key: _schema_of(one) for one in in_files if "." not in one.key}
    context = _table({key: _schema_of(option) for key, option in CONTEXT_OPTIONS.items()})
    top[CONTEXTS] = {
        "type": "object",
        "additionalProperties": {**context, "required": ["proxy_url"]},
    }
    for table in TABLES:
        top[table] = _table(
            {
                one.key.partition(".")[2]: _schema_of(one)
                for one in in_files
                if one.key.startswith(f"{table}.")
            }
        )
    top[KEYS] = {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "CacheRoute console configuration",
        **_table(top),
    }


def _schema_of(option: Option) -> dict[str, Any]:
    found = {"description": option.doc, **option.kind.schema}
    if option.default is not None:
        default = list(option.default) if isinstance(option.default, tuple) else option.default
        found["default"] = default
    return found


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}

"""What of the toolkit is done in a way of ours: converting what needs no conversion, and help.

The converter costs more to import than most commands take. Only what is a text already, or
nothing at all, goes past it; everything else, and everything that is wrong, is its work.
"""

from typing import Any, Literal, get_args, get_origin

_MISSING = object()


class _Lean:
    """Stands where a parameter keeps its converter, until a value needs that one."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        taken = _as_it_is(value, param)
        if taken is not _MISSING:
            return taken
        # Without one, the toolkit makes its own.
        param._runtime_param = None  # noqa: SLF001
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def lean(command: Any) -> Any:
    """Have the parameters of a command, and of those below it, convert only what they must."""
    for parameter in command.params:
        _loosen(parameter)
    # The option for help is made late, when it is first asked for.
    make_help = command.get_help_option
    command.get_help_option = lambda ctx: _printing(_loosen(make_help(ctx)))
    for inner in (getattr(command, "commands", None) or {}).values():
        lean(inner)
    return command


def _printing(help_option: Any) -> Any:
    """Have help written as all data is: a disk that is full is no bug."""
    if help_option is not None:
        help_option.callback = _print_help
    return help_option


def _print_help(ctx: Any, _: Any, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from cacheroute_cli.output import print_text

        print_text(ctx.get_help())
        ctx.exit()


def _loosen(parameter: Any) -> Any:
    # A toolkit that keeps its converters elsewhere makes them as it always does.
    if getattr(parameter, "_runtime_param", _MISSING) is None:
        parameter._runtime_param = _Lean()  # noqa: SLF001
    return parameter


def _as_it_is(value: Any, param: Any) -> Any:
    """Return the value when conversion would not change it."""
    descriptor = param.type_descriptor
    info, annotation = descriptor.parameter_info, descriptor.annotation
    has_several = param.multiple or param.nargs == -1
    if value is None:
        return () if has_several else None
    if getattr(info, "parser", None) is not None or getattr(info, "click_type", None) is not None:
        return _MISSING
    if annotation is str and not has_several and isinstance(value, str):
        return value
    if get_origin(annotation) is Literal and isinstance(value, str):
        return value if value in get_args(annotation) else _MISSING
    is_texts = get_origin(annotation) is list and get_args(annotation) == (str,)
    if is_texts and isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return list(value)
    return _MISSING

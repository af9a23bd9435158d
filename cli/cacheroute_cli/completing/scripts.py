"""The few lines that a shell keeps: all they do is ask, so they hold through every upgrade."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_BASH = """\
# cacheroute: completion for bash
_cacheroute() {
    local -a found
    mapfile -t found < <(@ASK@ bash "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    COMPREPLY=("${found[@]:1}")
    if [[ ${found[0]:-} == files ]]; then
        compopt -o default 2>/dev/null
    fi
}
complete -F _cacheroute cacheroute
"""

_ZSH = """\
#compdef cacheroute
# cacheroute: completion for zsh
_cacheroute() {
    local -a found
    found=("${(@f)$(@ASK@ zsh "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ $found[1] == files ]]; then
        _files
        return
    fi
    found=("${(@)found[2,-1]}")
    (( $#found )) && _describe cacheroute found
}
if [[ $funcstack[1] == _cacheroute ]]; then
    _cacheroute "$@"
elif (( $+functions[compdef] )); then
    compdef _cacheroute cacheroute
fi
"""

_FISH = """\
# cacheroute: completion for fish
function __cacheroute_complete
    set -l found (@ASK@ fish (commandline -cp | string collect) 2>/dev/null)
    test (count $found) -gt 0; or return
    set -l first $found[1]
    set -e found[1]
    if test $first = files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c cacheroute -f -a '(__cacheroute_complete)'
"""

_ASK = "@ASK@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """One shell, its script, and where it looks for such a script by itself."""

    name: str
    text: str
    variable: str
    """XDG variable of the folder that the place is below."""
    usual: str
    """That folder where the variable is not set, from the home folder."""
    place: str
    note: str
    """What else may be needed."""


SHELLS: Mapping[str, Shell] = {
    shell.name: shell
    for shell in (
        Shell(
            name="bash",
            text=_BASH,
            variable="XDG_DATA_HOME",
            usual=".local/share",
            place="bash-completion/completions/cacheroute",
            note="new shells have it where bash-completion is set up; else put 'source {path}' "
            "into ~/.bashrc",
        ),
        Shell(
            name="zsh",
            text=_ZSH,
            variable="XDG_DATA_HOME",
            usual=".local/share",
            place="zsh/site-functions/_cacheroute",
            note="put 'fpath+=({folder})' before compinit in ~/.zshrc, once",
        ),
        Shell(
            name="fish",
            text=_FISH,
            variable="XDG_CONFIG_HOME",
            usual=".config",
            place="fish/completions/cacheroute.fish",
            note="new shells have it",
        ),
    )
}


def script(shell: Shell) -> str:
    """Return the script; it asks the interpreter that runs us now."""
    python = shlex.quote(sys.executable)
    return shell.text.replace(_ASK, f"{python} -P -m cacheroute_cli.completing")


def place_for(shell: Shell, environ: Mapping[str, str] | None = None) -> Path:
    """Return where the shell looks for it."""
    environ = os.environ if environ is None else environ
    folder = environ.get(shell.variable) or str(Path.home() / shell.usual)
    return Path(folder) / shell.place


def install(shell: Shell, path: Path) -> None:
    """Write the script; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script(shell), encoding="utf-8")

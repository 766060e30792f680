"""`workbench completion`: the script that lets a shell complete our command lines.

The scripts only ask: what can stand at the cursor is answered by `workbench completion --words …`, from the parsers
themselves, so a script stays right when the command changes.
"""

from __future__ import annotations

import argparse
import sys

from workbench.errors import RequestError
from workbench.project import Project

SHELLS = {
    "bash": 'eval "$(workbench completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(workbench completion zsh)" in ~/.zshrc, behind compinit',
    "fish": "workbench completion fish > ~/.config/fish/completions/workbench.fish",
}
"""Each shell, with how its script is put to use."""

_BASH = r"""# bash completion for workbench
_workbench() {
    local IFS=$'\n' line cur="${COMP_LINE:0:COMP_POINT}" found kind=
    local -a words=()
    # Split at blanks alone: readline would split `7f3a:best` at its colon too.
    read -r -a words -d '' <<< "${cur//[[:blank:]]/$'\n'}"
    [[ "$cur" == *[[:blank:]] ]] && words+=("")
    found="$("${words[0]}" completion --words "${words[@]:1}" 2>/dev/null)" || return 0
    cur="${words[${#words[@]}-1]}"
    COMPREPLY=()
    while read -r line; do
        line="${line%%$'\t'*}"
        case "$line" in
            '') ;;
            '!files'|'!directories') kind="$line" ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done <<< "$found"
    if [[ "$kind" == '!files' ]]; then
        compopt -o filenames
        COMPREPLY+=($(compgen -f -- "$cur"))
    elif [[ "$kind" == '!directories' ]]; then
        compopt -o filenames
        COMPREPLY+=($(compgen -d -- "$cur"))
    fi
    # Readline replaces only what stands behind the last sign it breaks words at.
    local sign prefix
    for sign in : =; do
        if [[ "$COMP_WORDBREAKS" == *"$sign"* && "$cur" == *"$sign"* ]]; then
            prefix="${cur%"${cur##*"$sign"}"}"
            COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
            cur="${cur#"$prefix"}"
        fi
    done
    [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *[:=] ]] && compopt -o nospace
    return 0
}
complete -F _workbench workbench
"""

_ZSH = r"""#compdef workbench
_workbench() {
    local line word text kind
    local -a plain open plain_texts open_texts
    while IFS= read -r line; do
        word="${line%%$'\t'*}"
        text="${line#*$'\t'}"
        [[ -z "$text" || "$text" == "$line" ]] && text="$word" || text="$word  -- $text"
        case "$word" in
            '') ;;
            '!files'|'!directories') kind="$word" ;;
            *[:=]) open+=("$word"); open_texts+=("$text") ;;
            *) plain+=("$word"); plain_texts+=("$text") ;;
        esac
    done < <("${words[1]}" completion --words "${(@)words[2,$CURRENT]}" 2>/dev/null)
    (( $#plain )) && compadd -l -d plain_texts -a plain
    (( $#open )) && compadd -S '' -l -d open_texts -a open
    case "$kind" in
        '!files') _files ;;
        '!directories') _files -/ ;;
    esac
}
if [[ "${funcstack[1]}" == _workbench ]]; then _workbench "$@"; else compdef _workbench workbench; fi
"""

_FISH = r"""# fish completion for workbench
function __workbench_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] completion --words $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case '!files*'
                __fish_complete_path $current
            case '!directories*'
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c workbench -f -a '(__workbench_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `completion`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(f"  {shell:<5} {how}" for shell, how in SHELLS.items())
    parser.add_argument("shell", nargs="?", choices=tuple(SHELLS), metavar="SHELL", help=", ".join(SHELLS))


def run(args: argparse.Namespace, project: Project) -> int:
    """Print the script and return 0."""
    if args.shell is None:
        listed = "\n".join(f"  {how}" for how in SHELLS.values())
        raise RequestError(f"name a shell: {', '.join(SHELLS)}.", hint=f"To use it:\n{listed}")
    sys.stdout.write(SCRIPTS[args.shell])
    return 0

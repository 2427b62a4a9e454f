# SPDX-License-Identifier: Apache-2.0
"""Types lines into an interactive shell in a pseudo-terminal, as a user does.

Usage: type_in_shell.py bash|zsh SETUP LINE...

SETUP are commands for the shell to start with. A LINE may have tabs. Prints JSON: for each line
what it has become ("line") and what the terminal has shown ("screen").
"""

import json
import os
import pathlib
import pty
import sys
import tempfile

PROMPT = b"@@ready@@"
# Ctrl-T shows the line that is typed, Ctrl-U removes it.
SHELLS = {
    "bash": (
        ".bashrc",
        ["bash", "--noprofile", "--rcfile", ".bashrc", "-i"],
        """PS1='@@ready@@ '
show_line() { printf '\\n<<<%s>>>\\n' "$READLINE_LINE"; }
bind 'set enable-bracketed-paste off'
bind 'set show-all-if-ambiguous on'
bind -x '"\\C-t": show_line'
""",
    ),
    "zsh": (
        ".zshrc",
        ["zsh", "-i"],
        """PS1='@@ready@@ '
show_line() { print -r -- $'\\n<<<'"$BUFFER>>>"; zle redisplay }
zle -N show_line
bindkey -e
bindkey '^T' show_line
setopt no_beep
autoload -Uz compinit
""",
    ),
}


def start(shell: str, setup: str, home: pathlib.Path) -> int:
    """Starts the shell in the working directory and returns its terminal."""
    name, command, settings = SHELLS[shell]
    (home / name).write_text(settings + setup + "\n", encoding="utf-8")
    process, terminal = pty.fork()
    if process == 0:
        command = [str(home / name) if word == name else word for word in command]
        environment = {
            **os.environ,
            "ZDOTDIR": str(home),
            "TERM": "xterm",
            "COLUMNS": "200",
            "LC_ALL": "C.UTF-8",
        }
        os.execvpe(command[0], command, environment)
    return terminal


def read_until(terminal: int, end: bytes) -> bytes:
    """What the terminal shows until `end`."""
    shown = b""
    while end not in shown:
        shown += os.read(terminal, 4096)
    return shown


def main() -> None:
    shell, setup, *lines = sys.argv[1:]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        terminal = start(shell, setup, pathlib.Path(folder))
        read_until(terminal, PROMPT)
        for line in lines:
            os.write(terminal, line.encode() + b"\x14")
            shown = read_until(terminal, b">>>").decode()
            screen, _, became = shown.partition("<<<")
            results.append({"line": became.partition(">>>")[0], "screen": screen})
            os.write(terminal, b"\x05\x15")
        os.write(terminal, b"\x15exit\n")
    json.dump(results, sys.stdout)


main()

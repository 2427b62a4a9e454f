# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal of a certain width and prints all lines that it shows, also those
that it overwrites.

Usage: on_terminal.py COLUMNS COMMAND...
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios

CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def main() -> None:
    columns = int(sys.argv[1])
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.environ.pop("COLUMNS", None)
        os.environ.pop("CI", None)
        os.environ["TERM"] = "xterm"
        os.environ["LC_ALL"] = "C.UTF-8"
        os.execvp(sys.argv[2], sys.argv[2:])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # of Linux, when the command has ended
            break
        if not part:
            break
        shown += part
    _, status = os.waitpid(process, 0)
    lines = CONTROL.sub(b"", shown.replace(b"\r\n", b"\n")).replace(b"\r", b"\n")
    sys.stdout.buffer.write(lines)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()

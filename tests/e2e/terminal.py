"""hybrid-view in a terminal of its own (tmux): keys go in, screens come out."""

import os
import shlex
import signal
import subprocess
import time

from conftest import BUILD, run

HYBRID_VIEW = BUILD / "viewer/hybrid-view"
PATIENCE = 60  # seconds until a screen must be there; only a failing test waits that long


class Terminal:
    """with Terminal(folder, width, height) as terminal: terminal.view(experiment)

    folder: a directory of this terminal alone. A shell runs in it; view() starts the browser there.
    """

    def __init__(self, folder, width=80, height=24, term="screen-256color", locale="C.UTF-8", **environment):
        self.folder, self.width, self.height = folder, width, height
        self.socket = folder / "tmux"
        # What a user has set must not change a screen.
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "ASAN_OPTIONS", "LSAN_OPTIONS") if name in os.environ}
        self.environment = {**keep, "LC_ALL": locale, "TERM": term, "PS1": "$ ", "SHELL": "/bin/sh",
                            "DEBUGINFOD_URLS": "", "TMUX_TMPDIR": str(folder), **environment}
        (folder / "tmux.conf").write_text(
            'set -g default-terminal "screen-256color"\nset -g status off\nset -g escape-time 0\n'
            "set -g remain-on-exit on\nset -g mouse on\nset -g focus-events off\n")

    def __enter__(self):
        shell = [word for name, value in self.environment.items() for word in ("-e", f"{name}={value}")]
        result = self.tmux("-f", self.folder / "tmux.conf", "new-session", "-d", "-s", "test", "-x", self.width,
                           "-y", self.height, *shell, "env", f"TERM={self.environment['TERM']}", "/bin/sh", "-i")
        assert result.returncode == 0, result.stderr
        self.wait_for("$")
        return self

    def __exit__(self, *_):
        # The terminal goes away, and what runs in it with it.
        self.tmux("kill-server")

    def tmux(self, *words):
        return run("tmux", "-u", "-S", self.socket, *words,
                   env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})

    # ------------------------------------------------------------- in

    def keys(self, *keys):
        """Keys as tmux calls them: keys("Down", "Enter", "a"), keys("C-l"), keys("F10")."""
        result = self.tmux("send-keys", "-t", "test", "--", *keys)
        assert result.returncode == 0, result.stderr

    def type(self, text):
        """Text as it stands."""
        result = self.tmux("send-keys", "-t", "test", "-l", "--", text)
        assert result.returncode == 0, result.stderr

    def command(self, *words):
        """A command of the shell; what it ends with is printed as "status N"."""
        self.type(" ".join(shlex.quote(str(word)) for word in words) + "; echo status $?")
        self.keys("Enter")

    def view(self, *arguments, until=None):
        """Starts hybrid-view, and waits for its key line, and for `until`."""
        self.tmux("clear-history", "-t", "test")
        self.command(HYBRID_VIEW, *arguments)
        self.wait(lambda screen: "Quit" in screen.splitlines()[-1], "the key line")
        return self.wait_for(until) if until else self.screen()

    def mouse(self, y, x, button=0):
        """A click in that line and column, counted from 0; button 64: wheel up, 65: wheel down. As the program asked for it."""
        if self.state("mouse_sgr_flag") == "1":
            self.type(f"\033[<{button};{x + 1};{y + 1}M")
            if button < 64:
                self.type(f"\033[<{button};{x + 1};{y + 1}m")
            return
        self.type(f"\033[M{chr(32 + button)}{chr(33 + x)}{chr(33 + y)}")
        if button < 64:
            self.type(f"\033[M{chr(32 + 3)}{chr(33 + x)}{chr(33 + y)}")

    def resize(self, width, height):
        self.width, self.height = width, height
        self.tmux("resize-window", "-t", "test", "-x", width, "-y", height)

    # ------------------------------------------------------------ out

    def screen(self, colours=False):
        """What is on the screen, without blanks at the ends of lines; with colours: their codes, too."""
        words = ["-e"] if colours else []
        text = self.tmux("capture-pane", "-p", "-t", "test", *words).stdout
        return "\n".join(line.rstrip() for line in text.splitlines())

    def lines(self):
        return self.screen().splitlines()

    def wait(self, condition, what="it"):
        """Until condition(screen) is true, and the screen whole: the same twice; that screen."""
        end = time.monotonic() + PATIENCE
        before = None
        while True:
            screen = self.screen()
            if screen and screen == before and condition(screen):
                return screen
            before = screen
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come; the screen:\n{screen}")
            time.sleep(0.03)

    def wait_for(self, text):
        return self.wait(lambda screen: text in screen, repr(text))

    def wait_gone(self, text):
        return self.wait(lambda screen: text not in screen, f"the end of {text!r}")

    def wait_ended(self, status=0):
        """Until the shell has printed the exit status."""
        return self.wait(lambda screen: f"status {status}" in screen.splitlines(), f"status {status}")

    # ---------------------------------------------------------- state

    def state(self, word):
        """A word of tmux' about the terminal: alternate_on, cursor_flag, mouse_any_flag, pane_pid ..."""
        return self.tmux("display-message", "-p", "-t", "test", "#{%s}" % word).stdout.strip()

    def modes(self):
        """The terminal's modes as stty prints them."""
        tty = self.state("pane_tty")
        with open(tty) as terminal:
            return subprocess.run(["stty", "-g"], stdin=terminal, stdout=subprocess.PIPE, text=True, check=True).stdout

    def processes(self):
        """The processes of hybrid-view in this terminal, the guard first."""
        pids = run("pgrep", "-t", self.state("pane_tty").removeprefix("/dev/"), "-x", "hybrid-view").stdout.split()
        return sorted(int(pid) for pid in pids)

    def kill(self, number, guard=False):
        """Sends a signal to the viewer itself, or to its guard."""
        os.kill(self.processes()[0 if guard else 1], getattr(signal, number))

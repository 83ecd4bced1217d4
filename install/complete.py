"""complete.py bash|zsh COMMAND: what the shell completes behind COMMAND, made from what `COMMAND --help` prints.

A line that begins with options has their names, the kind of their value, and behind two blanks what they do. A value in small
letters stands for itself, a|b for one of them; in capitals it stands for a number, a name or a file. Values that have lines of
their own (hybrid-convert --to) stand below their option, deeper. What hybrid-run runs is completed as a command is.
"""

import os
import re
import subprocess
import sys
import textwrap

FILES = {"FILE", "OUTPUT", "DIR", "BASE"}
RUNS_A_PROGRAM = "hybrid-run"


# A name, its value if it has one, and what parts it from the next; several begin a line.
SPELLING = re.compile(r"(--?[a-z][\w-]*)(?:(\[=[^\]]+\])|[ =]([A-Z]\S*[^\s,]|[A-Z]|[a-z-]+\|[\w|-]+|[a-z-]+(?=  )))?(, )?")


class Option:
    """Spellings of one option; `placeholder`: "" if it has no value; `choices`: values that are known."""

    def __init__(self):
        self.names, self.placeholder, self.optional, self.text, self.choices = [], "", False, "", []

    def read(self, line):
        """The option that the line begins with; its choices are added to those of the lines before."""
        more = True
        while more:
            found = SPELLING.match(line)
            self.names += [found[1]] if found[1] not in self.names else []
            self.optional |= bool(found[2])
            self.placeholder = (found[2] or found[3] or self.placeholder).strip("[=]")
            line, more = line[found.end():], found[4]
        self.choices += self.placeholder.split("|") if self.placeholder.islower() else []
        self.text = self.text or line.strip()


def options_of(text):
    found, option = {}, None
    for line in text.split("\nExamples:")[0].splitlines():
        value = re.match(r" {6}([a-z]\w*)  ", line)
        if re.match(r" {2,6}-", line):
            option = found.setdefault(SPELLING.match(line.strip())[1], Option())
            option.read(line.strip())
        elif value and option and option.placeholder:
            option.choices.append(value[1])
        elif option and line.startswith(" " * 20):
            option.text = f"{option.text} {line.strip()}".strip()
        else:
            option = None
    return list(found.values())


BASH = """\
# Completion of {command} in bash, made from its --help.
{function}()
{{
	local cur=${{COMP_WORDS[COMP_CWORD]}} option= i
	# Which option's value is wanted{begin}; bash takes --option=value apart.
	for ((i = 1; i < COMP_CWORD; i++)); do
		option=
		[ "${{COMP_WORDS[i + 1]-}}" != = ] || {{ option=${{COMP_WORDS[i]}}; ((i += 2)); continue; }}
		case ${{COMP_WORDS[i]}} in
		{valued}) option=${{COMP_WORDS[i++]}} ;;
		-*) ;;
		*) {behind} ;;
		esac
	done
	[ "$cur" != = ] || cur=
	COMPREPLY=()
	# Nothing in COMPREPLY: names of files.
	if ((i > COMP_CWORD)); then
		case $option in
{cases}
		esac
{program}	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "{names}" -- "$cur"))
	fi
}}
complete -o bashdefault -o default -F {function} {command}
"""

BASH_PROGRAM = """\
	elif ((i < COMP_CWORD)); then
		! declare -F _command_offset >/dev/null || _command_offset $i
	elif [[ $cur != -* ]]; then
		COMPREPLY=($(compgen -c -- "$cur"))
"""


def bash(command, options):
    cases = [f'\t\t{"|".join(o.names)}) COMPREPLY=($(compgen -W "{" ".join(o.choices)}" -- "$cur")) ;;'
             for o in options if o.choices]
    runs = command == RUNS_A_PROGRAM
    return BASH.format(command=command, behind="break" if runs else "", begin=", or where the program begins" if runs else "", function="_" + command.replace("-", "_"), cases="\n".join(cases) or "\t\t*) ;;",
                       valued="|".join(n for o in options if o.placeholder and not o.optional for n in o.names) or "''",
                       names=" ".join(n for o in options for n in o.names),
                       program=BASH_PROGRAM if runs else "")


def zsh(command, options):
    lines = [f"#compdef {command}", "# Made from its --help."]
    specs = []
    for option in options:
        text = textwrap.shorten(option.text, 72, placeholder=" ...")
        text = re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")
        value = ""
        if option.placeholder:
            action = f"({' '.join(option.choices)})" if option.choices else "_files" if option.placeholder in FILES else " "
            message = "value" if option.choices else option.placeholder.replace(":", "\\:")
            value = f"{':' if option.optional else ''}:{message}:{action}"
        for name in option.names:
            joint = "" if not option.placeholder else "=-" if option.optional else "=" if name.startswith("--") else "+"
            specs.append(f"'({' '.join(option.names)}){name}{joint}[{text}]{value}'")
    if command == RUNS_A_PROGRAM:
        begin = "_arguments -s -S -A '-*' :"
        specs += ["'(-):program: _command_names -e'", "'*::arguments: _normal'"]
    else:
        begin = "_arguments -s -S :"
        specs.append("'*:file:_files'")
    return "\n".join(lines + [" \\\n  ".join([begin, *specs])]) + "\n"


def main():
    shell, command = sys.argv[1:]
    shown = subprocess.run([command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    print({"bash": bash, "zsh": zsh}[shell](os.path.basename(command), options_of(shown)), end="")


if __name__ == "__main__":
    main()

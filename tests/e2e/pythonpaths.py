"""Paths of Python functions: what programs in tests/programs/python say of themselves, and what was sampled.

A stack is a tuple of (file's name, line, function), outermost first; samples are pairs of a stack and a count.
"""

import ast
import collections
import functools
import math
import re

from conftest import PROGRAMS

FOLDER = PROGRAMS / "python"


def plain(name):
    """co_qualname (3.11 and later) and co_name alike."""
    return name.rpartition(".")[2] if not name.endswith(">") else "<" + name.rpartition("<")[2]


class Truth:
    """What a program's source says: `parts`, and the marked lines of each function."""

    def __init__(self, path):
        source = path.read_text()
        self.file = path.name
        self.lines = collections.defaultdict(set)
        self.parts = {}
        owners = {}
        for node in ast.walk(ast.parse(source)):  # breadth first: inner functions come later
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                owners.update({line: node.name for line in range(node.lineno, node.end_lineno + 1)})
                if node.name.startswith("part_"):
                    self.parts[node.name] = [
                        self.alternative(text) for text in (ast.get_docstring(node) or "...").split("|")
                    ]
        for number, text in enumerate(source.splitlines(), 1):
            if re.search(r"#:(\s|$)", text):
                self.lines[owners[number]].add(number)
                self.lines["<"].add(number)

    @staticmethod
    def alternative(text):
        """(share or None, names with repetitions as words, regular expression of the whole, and of any beginning)"""
        words = re.findall(r"\([^)]*\)\S*|\S+", text)
        share = float(words.pop(0)) if words and re.fullmatch(r"\d\.\d+", words[0]) else None
        whole, start = "", ""
        for word in words:
            if word == "...":
                piece, first = r"(?:\S+ )*?", ""
            else:
                names, repeated = re.fullmatch(r"\(?(.*?)\)?((?:[+*?]|\{[0-9,]+\})?)", word).groups()
                group = "".join(re.escape(name) + " " for name in names.split())
                piece = f"(?:{group})" + repeated
                # Of a repetition, any smaller number, and at last a part of it.
                first = "(?:%s)%s" % (group, re.sub(r"\{(?:\d+,)?(\d+)\}", r"{0,\1}", repeated) if "{" in repeated else "*")
                for name in reversed(names.split()[:-1]):
                    first += f"(?:{re.escape(name)} )?"
            start += f"|{whole}{first}"
            whole += piece
        return share, re.compile(whole), re.compile(whole + start)

    def legal_line(self, name, line):
        known = self.lines.get("<" if name.startswith("<") else name)
        return not known or line in known


@functools.lru_cache(maxsize=None)
def truth(name):
    return Truth(FOLDER / name)


class Verdict:
    """How the samples of one part compare with its truth."""

    def __init__(self):
        self.samples = 0
        self.whole = collections.Counter()  # samples by number of the alternative
        self.wrong_names = collections.Counter()
        self.wrong_lines = collections.Counter()
        self.leaf_lines = 0  # samples at a marked line of the innermost function
        self.unknown = collections.Counter()  # the interpreter itself never showed these


def judge(program, samples, oracle=None):
    """part -> Verdict, for the samples with a part's function in their path; a child after fork has two, the
    innermost counts."""
    known = truth(program)
    functions = {(stack[:-1], stack[-1][::2]) for stack in oracle or ()}
    verdicts = collections.defaultdict(Verdict)
    for stack, count in samples:
        names = [plain(name) for _, _, name in stack]
        first = next((i for i in reversed(range(len(names))) if names[i] in known.parts), None)
        if first is None:
            continue
        verdict = verdicts[names[first]]
        verdict.samples += count
        text = "".join(name + " " for name in names[first + 1:])
        alternatives = known.parts[names[first]]
        whole = next((i for i, (_, all_, _) in enumerate(alternatives) if all_.fullmatch(text)), None)
        if whole is not None:
            verdict.whole[whole] += count
        elif not any(start.fullmatch(text) for _, _, start in alternatives):
            verdict.wrong_names[stack] += count
        for (file, line, _), name in list(zip(stack, names))[first:-1]:
            if file == known.file and not known.legal_line(name, line):
                verdict.wrong_lines[stack] += count
                break
        if stack[-1][0] != known.file or known.legal_line(names[-1], stack[-1][1]):
            verdict.leaf_lines += count
        # Line 0: at an instruction that has none, before the function's first line.
        legal = (stack[:-1], stack[-1][::2]) in functions if stack[-1][1] == 0 else stack in (oracle or ())
        if oracle is not None and not legal:
            verdict.unknown[stack] += count
    return verdicts


def read_oracle(path):
    """The set of stacks that work.py wrote."""
    stacks = set()
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for text in lines:
            stacks.add(without_import(tuple(as_frame(part) for part in text.rstrip("\n").split("\t"))))
    return stacks


def without_import(stack):
    """The machinery of `import` does not show in a report."""
    return tuple(frame for frame in stack if not frame[0].startswith("<frozen importlib"))


@functools.lru_cache(maxsize=None)
def as_frame(text):
    file, line, name = re.fullmatch(r"(.*):(None|-?\d+):(.*)", text).groups()
    return file, 0 if line == "None" else int(line), name


def ascii_escapes(text):
    return text.encode("ascii").decode("unicode_escape") if "\\" in text else text


def read_faulthandler(path):
    """Samples from what faulthandler wrote; of 100 frames and more it shows the innermost only."""
    samples, stack = collections.Counter(), []

    def finish():
        if stack and stack[0][2] == "<module>":
            samples[tuple(stack)] += 1

    for text in path.read_text(errors="surrogateescape").splitlines():
        match = re.fullmatch(r'  File "(.*)", line (\d+|\?\?\?) in (.*)', text)
        if match:
            file, line, name = (ascii_escapes(text) for text in match.groups())
            stack.insert(0, (file.rpartition("/")[2], int(line) if line != "???" else 0, name))
        elif text.startswith(("Stack", "Current thread", "Thread")):
            finish()
            stack = []
    finish()
    return list(samples.items())


def share_is(count, total, share, sigmas=5, slack=0.0):
    sigma = math.sqrt(total * share * (1 - share))
    return abs(count - total * share) <= sigmas * sigma + slack * total + 1


def sampled(report):
    """Samples from `hybrid-report --json --callsites`: the Python frames of each path."""
    nodes, stacks, counts = report["nodes"], [], collections.Counter()
    for node in nodes:
        stack = stacks[node["parent"]] if node["parent"] is not None else ()
        if node["python"]:
            name = "<module>" if node["name"].startswith("<module ") else node["name"]  # as Python has it
            stack += ((node["file"].rpartition("/")[2], node["line"], name),)
        stacks.append(stack)
        if node["samples"]:
            counts[without_import(stack)] += node["samples"]
    return list(counts.items())

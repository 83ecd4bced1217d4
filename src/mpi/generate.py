#!/usr/bin/python3
"""Writes the MPI wrappers of one ABI, or the stubs for all, from functions.table, templates/ and mpi.h.

  generate.py wrappers HEADER POINTERS WRAPPERS -- COMPILER...   pmpi-ABI.h, pmpi-ABI.c, wrappers-ABI.c
  generate.py stubs STUBS -- COMPILER... [-- COMPILER...]        stubs.S, for the functions of each
  generate.py functions -- COMPILER...                           prints the functions with their parameters

COMPILER is a C compiler with the options that find mpi.h: one ABI each.
"""
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent

# Also what Open MPI declares only on demand: functions that MPI has removed and programs still call, extensions.
INCLUDE = """#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
"""


@dataclass
class Function:
    name: str  # MPI_Send
    type: str  # int
    parameters: list  # as declared: "const void *buf"; "..." last for a variadic one


@dataclass
class Entry:
    """A line of the table."""
    template: str
    words: list  # what the template asks for: "bcast" of operation_Xxx
    arguments: list  # names that templates use; "-": it has none


def fail(text):
    sys.exit(f"generate.py: {text}")


# ------------------------------------------------------------------------------------------------------- mpi.h

def split_parameters(text):
    """At the commas outside of parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    parts = [part.strip() for part in parts]
    return [] if parts in (["void"], [""]) else parts


def preprocess(compiler):
    done = subprocess.run([*compiler, "-E", "-P", "-x", "c", "-"], input=INCLUDE, capture_output=True, text=True)
    if done.returncode:
        fail(f"{' '.join(compiler)}: {done.stderr}")
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", done.stdout)
    return " ".join(text.split())


def read_functions(text):
    """The functions that are declared with their PMPI twins, by name."""
    pattern = r"(?<=[;{}] )(?:extern )?([\w ]+?(?: ?\*)*) ?\b(P?MPIX?_\w+) ?\(((?:[^()]|\([^()]*\))*)\) ?(?=;)"
    found = {m[2]: Function(m[2], m[1], split_parameters(m[3])) for m in re.finditer(pattern, "; " + text)}
    return {name: f for name, f in sorted(found.items()) if "P" + name in found}


def read_variables(text):
    """MPI's objects behind constants such as MPI_COMM_WORLD: name and type."""
    return sorted(set((m[2], m[1]) for m in re.finditer(r"(?<=[;{}] )extern (struct \w+) (\w+) ?;", text)))


# --------------------------------------------------------------------------------------- the table and templates

def read_table():
    table = {}
    for number, line in enumerate((HERE / "functions.table").read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) < 2 or words[0] in table:
            fail(f"functions.table:{number}: {line}")
        template, *parts = words[1].split(":")
        table[words[0]] = Entry(template, parts, words[2:])
    return table


def read_templates():
    """Templates by name, and the parts that they ask for, by ("operation", "bcast")."""
    templates, frames, parts = {}, {}, {}

    def keep(where, key, text):
        if key in where:
            fail(f"{path.name}: {key}: twice")
        where[key] = text

    for path in sorted((HERE / "templates").glob("*.c.in")):
        for block in re.split(r"\n\n(?!\t)", path.read_text().rstrip("\n")):
            if m := re.search(r"^template (\w+)(?:: (\w+))?\n", block, re.M):
                keep(templates, m[1], block[m.end():] + "\n")
                frames[m[1]] = m[2]
            else:
                for m in re.finditer(r"^(\w+) (\w+) = (.*)$", block, re.M):
                    keep(parts, (m[1], m[2]), m[3])
    if unknown := set(frames.values()) - {None, *templates}:
        fail(f"templates: there is no template '{unknown.pop()}'")
    return {name: fill(templates[frames[name]], text) if frames[name] else fill(text, "")
            for name, text in templates.items()}, parts


def fill(frame, text):
    """A frame with the lines of a template in their places."""
    before, _, after = text.rpartition("\t...\n")
    return re.sub(r"\t+after_Xxx\n", lambda _: after, frame.replace("\tbefore_Xxx\n", before))


def find_entry(table, function):
    """MPI_Send_c and an extension's MPIX_Send are in the table as MPI_Send."""
    name = function.name.replace("MPIX_", "MPI_")
    for known in (function.name, name, re.sub("_c$", "", name)):
        if known in table:
            return table[known]
    return Entry("call", [], [])


def returns_error(function):
    """Or a value: then its template is another one. An MPI_Fint is an int."""
    return function.type == "int" and (function.name == "MPI_Status_c2f" or not function.name.endswith("_c2f"))


def fortran_functions(table):
    """The names of the functions of Fortran in the table, as mpif.h and as mpi_f08 have them."""
    names = [name for name in table if name.startswith("mpi_")]
    return sorted([name + "_" for name in names] + [name + "_f08_" for name in names])


# --------------------------------------------------------------------------------------------------- parameters

def declare(parameter, name):
    """The same parameter with another name."""
    if m := re.fullmatch(r"(.*\(\*) ?\w* ?(\) ?\(.*\))", parameter):  # pointer to function
        return m[1] + name + m[2]
    m = re.fullmatch(r"(.*?[\s*])(\w+)((?: ?\[\w*\])*)", parameter)
    if not m:
        fail(f"cannot read the parameter '{parameter}'")
    return m[1] + name + m[3]


def name_parameters(function, entry):
    """Names by the table; those that it does not name are p1, p2 ..."""
    fixed = [p for p in function.parameters if p != "..."]
    if entry.arguments and len(entry.arguments) != len(fixed):
        fail(f"functions.table: {function.name} has {len(fixed)} arguments: {', '.join(fixed)}")
    names = entry.arguments or ["-"] * len(fixed)
    return [name if name != "-" else f"p{i + 1}" for i, name in enumerate(names)]


def instantiate(function, entry, templates, parts):
    template = entry.template + ("" if returns_error(function) else "_value")
    if template not in templates:
        fail(f"functions.table: {function.name}: there is no template '{template}'")
    text = templates[template]
    for kind in sorted(set(kind for kind, _ in parts)):
        if f"{kind}_Xxx" in text:
            words = [word for word in entry.words if (kind, word) in parts]
            if len(words) != 1:
                fail(f"functions.table: {function.name}: {entry.template} asks for one {kind}")
            text = text.replace(f"{kind}_Xxx", parts[kind, words[0]])
    names = name_parameters(function, entry)
    fixed = [p for p in function.parameters if p != "..."]
    declared = [declare(p, name) for p, name in zip(fixed, names)] + ["..."] * ("..." in function.parameters)
    if "elsewhere" in entry.words:
        text = f"#ifndef HYB_MPI_LINKED\n{text}#endif\n"
    text = text.replace("PMPI_Xxx(...)", f"P{function.name}({', '.join(names)})")
    text = text.replace("MPI_Xxx(...)", f"{function.name}({', '.join(declared) or 'void'})")
    return text.replace("MPI_Xxx", function.name).replace("value_type", function.type)


def instantiate_fortran(name, templates):
    c_name = "MPI_" + re.sub("_(f08_)?$", "", name.removeprefix("mpi_")).capitalize()
    return templates["fortran"].replace("fortran_xxx", name).replace("MPI_Xxx", c_name)


# ----------------------------------------------------------------------------------------------------- wrappers

FORTRAN = "uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t"


def write_header(out, functions, variables, fortran):
    members = [f"\t__typeof__(P{name}) *P{name};" for name in functions]
    members += [f"\t{type} *{name};" for name, type in variables]
    members += [f"\tuintptr_t (*{name})({FORTRAN});" for name in fortran]
    macros = [f"#define P{name} (*pmpi.P{name})" for name in functions]
    macros += [f"#define {name} (*pmpi.{name})" for name, _ in variables]
    out.write_text("\n".join([
        "/* Generated by generate.py for pmpi.h: mpi.h, and pointers to MPI's own functions. */",
        "#pragma GCC visibility push(default)", INCLUDE, "#pragma GCC visibility pop", "#include <stdint.h>", "",
        "#ifndef HYB_MPI_LINKED", "struct pmpi {", *members, "};",
        "extern struct pmpi pmpi;", *macros, *(f"uintptr_t {name}({FORTRAN});" for name in fortran), "#endif", ""]))


def write_pointers(out, functions, variables, fortran):
    names = ["P" + name for name in functions] + [name for name, _ in variables] + fortran
    wrappers = [*functions, *fortran]
    out.write_text("\n".join([
        "/* Generated by generate.py: what the library has, and what it looks for in MPI. */",
        '#include "mpi/library.h"', '#include "mpi/wrappers.h"', "",
        "const char *const pmpi_names[] = {", *(f'\t"{name}",' for name in names), "};",
        "const unsigned pmpi_count = sizeof(pmpi_names) / sizeof(pmpi_names[0]);", "",
        "static const struct mpi_wrapper wrappers[] = {",
        *(f'\t{{"{name}", (void *)(uintptr_t){name}}},' for name in wrappers), "};", "",
        "__attribute__((visibility(\"default\"))) extern const struct mpi_library hybrid_mpi_library_1;",
        "const struct mpi_library hybrid_mpi_library_1 = {",
        "\tsizeof(wrappers) / sizeof(wrappers[0]), wrappers, pmpi_start};", ""]))


def write_library(header, pointers, wrappers, compiler):
    declared = preprocess(compiler)
    functions, variables = read_functions(declared), read_variables(declared)
    table, (templates, parts) = read_table(), read_templates()
    fortran = fortran_functions(table)
    write_header(header, functions, variables, fortran)
    write_pointers(pointers, functions, variables, fortran)
    text = ["/* Generated by generate.py: the wrappers. */", '#include "mpi/wrappers.h"', ""]
    text += [instantiate(f, find_entry(table, f), templates, parts) for f in functions.values()]
    text += ["#ifndef HYB_MPI_LINKED", "", *(instantiate_fortran(name, templates) for name in fortran), "#endif", ""]
    wrappers.write_text("\n".join(text))


# -------------------------------------------------------------------------------------------------------- stubs

def write_stubs(out, compilers):
    names = sorted(set().union(*(read_functions(preprocess(compiler)) for compiler in compilers)))
    fortran = fortran_functions(read_table())
    lines = ["/* Generated by generate.py. */", '#include "mpi_stub.inc"', ""]
    lines += [f"STUB {name} {i}" for i, name in enumerate(names)]
    for i, name in enumerate(fortran, len(names)):
        base = name.removesuffix("_")
        others = [] if name.endswith("_f08_") else [base, base + "__", base.upper()]
        lines += [f"ALIAS {other} {name}" for other in others] + [f"STUB_FORTRAN {name} {i}"]
    names += fortran
    lines += ["", "\t.section .rodata", ".globl hybrid_mpi_names, hybrid_mpi_count", "hybrid_mpi_names:"]
    lines += [f'\t.asciz "{name}"' for name in names]
    lines += ["\t.balign 4", "hybrid_mpi_count:", f"\t.long {len(names)}", "",
              "\t.bss", "\t.balign 64", ".globl hybrid_mpi_targets", "hybrid_mpi_targets:",
              f"\t.skip {16 * len(names)}", ""]
    out.write_text("\n".join(lines))


def split_compilers(words):
    compilers = [[]]
    for word in words:
        if word == "--":
            compilers.append([])
        else:
            compilers[-1].append(word)
    return compilers[0], compilers[1:]


def main():
    words, compilers = split_compilers(sys.argv[1:])
    if words[:1] == ["wrappers"] and len(words) == 4 and len(compilers) == 1:
        write_library(*map(pathlib.Path, words[1:]), compilers[0])
    elif words[:1] == ["stubs"] and len(words) == 2 and compilers:
        write_stubs(pathlib.Path(words[1]), compilers)
    elif words == ["functions"] and len(compilers) == 1:
        for f in read_functions(preprocess(compilers[0])).values():
            print(f"{f.type} {f.name}({', '.join(f.parameters)})")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

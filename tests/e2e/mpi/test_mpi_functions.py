"""Every function of MPI has a wrapper: what mpi.h declares and the libraries export, against what was built of it."""

import bisect
import ctypes
import os
import re
import shutil

import pytest

from conftest import BUILD, HYBRID_REPORT, HYBRID_RUN, SOURCE, run
from mpi import NAMES

ROOM = BUILD / "src" / "mpi"
LIBRARIES = {"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}
FORTRAN = {"mpich": ["libmpichfort.so.12"], "openmpi": ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40"]}
# Functions that mpi.h of MPICH declares and no library of its has.
NOWHERE = {"MPI_Status_f082f", "MPI_Status_f2f08"}
# In MPICH's library for Fortran, which a program in C is not linked to.
ELSEWHERE = NOWHERE | {"MPI_Status_c2f08", "MPI_Status_f082c"}


@pytest.fixture(scope="module", params=NAMES)
def abi(request):
    if not shutil.which(f"mpicc.{request.param}"):
        pytest.skip(f"mpicc.{request.param} is not installed")
    return request.param


def includes(abi):
    return [word for word in run(f"mpicc.{abi}", "-show").stdout.split() if word.startswith("-I")]


def declared(abi):
    """Read in another way than the generator does: whatever stands before a parenthesis after preprocessing."""
    result = run(f"mpicc.{abi}", "-E", "-P", "-", "-x", "c", input="#include <mpi.h>\n")
    if result.returncode:
        result = run("gcc", *includes(abi), "-E", "-P", "-x", "c", "-", input="#include <mpi.h>\n")
    found = set(re.findall(r"\b(P?MPIX?_[A-Z]\w*) ?\(", result.stdout))
    return {name for name in found if not name.startswith("P") and "P" + name in found}


def library(name):
    for line in run("/sbin/ldconfig", "-p").stdout.splitlines():
        if line.split()[:1] == [name]:
            return line.split()[-1]
    pytest.skip(f"{name} is not installed")


def exported(path):
    lines = run("nm", "-D", "--defined-only", path).stdout.splitlines()
    return {line.split()[2].split("@")[0]: line.split()[1] for line in lines if len(line.split()) == 3}


def in_mpi(abi):
    """The functions that MPI's library exports, by either of their names."""
    names = {name for name, kind in exported(library(LIBRARIES[abi])).items() if kind in "TW"}
    return {name for name in names if re.match(r"MPIX?_[A-Z][a-z_]", name) and "P" + name in names}


class Wrapper(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("code", ctypes.c_void_p)]


class Library(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint32), ("wrappers", ctypes.POINTER(Wrapper))]


def wrapped(abi):
    library = Library.in_dll(ctypes.CDLL(str(ROOM / f"libhybrid-mpi-{abi}.so")), "hybrid_mpi_library_1")
    return [library.wrappers[i].name.decode() for i in range(library.count)]


def test_stubs_are_there(abi):
    stubs = exported(ROOM / "libhybrid-mpi.so")
    wanted = declared(abi) | in_mpi(abi)
    assert len(wanted) > 400
    assert sorted(name for name in wanted if name not in stubs) == []
    assert sorted(name for name in wanted if "P" + name not in stubs) == []
    assert [name for name in stubs if not re.match("P?MPIX?_|mpi_|hybrid_mpi_linked$", name)] == []


def test_wrappers_are_there(abi):
    names = wrapped(abi)
    assert names == sorted(set(names))
    assert sorted((declared(abi) | in_mpi(abi)) - set(names)) == []


def test_linked_wrappers_are_there(abi):
    lines = run("nm", "-g", "--defined-only", ROOM / "linked" / f"libhybrid-mpi-{abi}.a").stdout.splitlines()
    names = {line.split()[2] for line in lines if len(line.split()) == 3}
    assert sorted(declared(abi) - names) == sorted(ELSEWHERE & declared(abi))
    assert [name for name in names if not re.match("MPIX?_", name)] == []


def table():
    for line in (SOURCE / "src" / "mpi" / "functions.table").read_text().splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words[0], words[1], words[2:]


def test_table_names_only_what_is_there():
    known = set()
    for name in NAMES:
        if shutil.which(f"mpicc.{name}"):
            known |= declared(name) | {other.replace("MPIX_", "MPI_") for other in declared(name)}
    if not known:
        pytest.skip("no MPI is installed")
    names = [name for name, _, _ in table() if name.startswith("MPI_")]
    assert len(names) == len(set(names)) > 200
    missing = {name for name in names if name not in known}
    # What MPICH has no use for: its handles are Fortran's.
    assert missing - {f"MPI_{kind}_{way}" for kind in ["Session"] for way in ["c2f", "f2c"]} == set()


@pytest.mark.parametrize("line,text", [
    ("MPI_Send send - count datatype dest tag", "MPI_Send has 6 arguments"),
    ("MPI_Send sned - count datatype dest tag comm", "there is no template 'sned'"),
    ("MPI_Isend started:snd - count datatype dest tag comm request", "started asks for one operation"),
])
def test_a_wrong_table_is_refused(abi, tmp_path, line, text):
    shutil.copytree(SOURCE / "src" / "mpi", tmp_path / "mpi")
    path = tmp_path / "mpi" / "functions.table"
    path.write_text(re.sub(rf"^{line.split()[0]} .*$", line, path.read_text(), flags=re.M))
    result = run("/usr/bin/python3", tmp_path / "mpi" / "generate.py", "wrappers", *(tmp_path / x for x in "abc"),
                 "--", "gcc", *includes(abi))
    assert result.returncode == 1
    assert result.stderr.startswith("generate.py: ") and text in result.stderr and result.stderr.count("\n") == 1


# ------------------------------------------------------------------------------------------------------- Fortran

class Code:
    """What the functions of a library call, read from its instructions."""

    def __init__(self, path):
        self.symbols = {}
        for line in run("nm", "-D", "--defined-only", path).stdout.splitlines():
            address, kind, name = (line.split() + ["", ""])[:3]
            if kind in ("T", "W"):
                self.symbols[name.split("@")[0]] = int(address, 16)
        self.calls, starts, at = {}, set(self.symbols.values()), []
        for line in run("objdump", "-d", "--no-show-raw-insn", path).stdout.splitlines():
            m = re.match(r" *([0-9a-f]+):\t(?:bnd |notrack )?(call|jmp) +([0-9a-f]+) <([^>]+)>", line)
            if m:
                at.append((int(m[1], 16), m[4][:-4] if m[4].endswith("@plt") else int(m[3], 16)))
                if m[2] == "call" and not m[4].endswith("@plt"):
                    starts.add(int(m[3], 16))
        self.starts = sorted(starts)
        for address, target in at:
            self.calls.setdefault(self.start(address), set()).add(target)

    def start(self, address):
        """Of the function around it."""
        return self.starts[bisect.bisect_right(self.starts, address) - 1]


def reached(codes, name, seen):
    """Functions of C that a function of Fortran calls."""
    for code in codes:
        todo = [code.symbols[name]] if name in code.symbols else []
        while todo:
            start = code.start(todo.pop())
            if (code, start) in seen:
                continue
            seen.add((code, start))
            for target in code.calls.get(start, ()):
                if isinstance(target, int):
                    todo.append(target)
                elif re.match(r"P?MPIX?_[A-Z]", target):
                    yield target
                else:
                    yield from reached(codes, target, seen)


# Nothing to be measured: callbacks of MPI's own, sizes and addresses, which mpi.h does not have either.
NO_CALLS = r"mpi_(\w+_fn|conversion_fn_null|f_sync_reg\w*|sizeof\w*|\w+_f90)_$"


def test_fortran_is_seen(abi, needs):
    """Each of its functions comes to the function of C of that name, or has a wrapper of its own."""
    needs("objdump")
    codes = [Code(library(name)) for name in FORTRAN[abi]]
    own = {name for name, template, _ in table() if template == "fortran"}
    stubs = exported(ROOM / "libhybrid-mpi.so")
    names = sorted({name for code in codes for name in code.symbols if re.fullmatch(r"mpix?_[a-z0-9_]*[a-z0-9]_", name)})
    assert len(names) > 400
    unseen = []
    for name in names:
        base = re.sub(r"(_cptr|_f08ts|_f08)?(_large)?_$", "", name).replace("mpix_", "mpi_")
        called = {re.sub("_c$", "", c.lower().lstrip("p").replace("mpix_", "mpi_")) for c in reached(codes, name, set())}
        if base not in called and not re.match(NO_CALLS, name):
            unseen.append(name)
            assert base not in own or name in stubs
    assert sorted(name for name in unseen if re.sub(r"_(f08_)?$", "", name) not in own) == []


# -------------------------------------------------------------------------------------------------- what is loaded

NO_MPI = r"""
#include <stdio.h>
#include <string.h>
int MPI_Initialized(int *), MPI_Finalized(int *), MPI_Barrier(int);
int main(int argc, char **argv)
{
	int a = 7, b = 7;
	MPI_Initialized(&a);
	MPI_Finalized(&b);
	printf("%d %d\n", a, b);
	fflush(stdout);
	return argc > 1 ? MPI_Barrier(0) : 3;
}
"""


def test_no_mpi(compile_c, tmp_path):
    """A program that may do without: as if MPI were not ready; a call ends it, as the dynamic linker would."""
    program = compile_c(NO_MPI, f"{ROOM}/libhybrid-mpi.so", f"-Wl,-rpath,{ROOM}")
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "a", program)
    assert (result.returncode, result.stdout, result.stderr) == (3, "0 0\n", "")
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "b", program, "call")
    assert (result.returncode, result.stdout) == (127, "0 0\n")
    assert result.stderr == f"{program}: symbol lookup error: undefined symbol: MPI_Barrier\n"


HELLO = r"""
#include <mpi.h>
#include <stdio.h>
#include <dlfcn.h>
int main(int argc, char **argv)
{
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))
		printf("%s\n", dlerror());
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_SELF);
	MPI_Finalize();
	puts("fine");
	return 0;
}
"""


@pytest.fixture(scope="module")
def hello(abi, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hello")
    (folder / "hello.c").write_text(HELLO)
    result = run(f"mpicc.{abi}", folder / "hello.c", "-o", folder / "hello", "-ldl")
    assert result.returncode == 0, result.stderr
    return folder / "hello"


ROOT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def calls(path):
    text = run(HYBRID_REPORT, "--threshold", "0", path).stdout
    return {m[2]: int(m[1]) for m in re.finditer(r" (\d+)(?: +\d+)? +[^\w\n]*(MPI_\w+)$", text, re.M)}


def test_one_program_is_measured(hello, tmp_path):
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "e", hello, env=ROOT)
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")
    assert calls(tmp_path / "e") == {"MPI_Init": 1, "MPI_Barrier": 1, "MPI_Finalize": 1}


def test_wrapper_library_is_missing(abi, hello, tmp_path):
    """The rest works, and one line says what does not."""
    shutil.copy(ROOM / "libhybrid-mpi.so", tmp_path)
    env = {**ROOT, "HYBRID_DIR": str(tmp_path / "e"),
           "LD_PRELOAD": f"{BUILD}/src/runtime/libhybrid.so:{tmp_path}/libhybrid-mpi.so"}
    (tmp_path / "e").mkdir()
    result = run(hello, env=env)
    assert (result.returncode, result.stdout) == (0, "fine\n")
    assert re.fullmatch(rf"hybrid: MPI calls are not measured: Hybrid was built without libhybrid-mpi-{abi}.so, for \S+\n",
                        result.stderr)


def test_two_mpis(abi, hello, tmp_path):
    other = library(LIBRARIES[NAMES[1 - NAMES.index(abi)]])
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "e", hello, other, env=ROOT)
    assert (result.returncode, result.stdout) == (0, "fine\n")
    assert re.fullmatch(r"hybrid: two MPIs in one process: (\S+) is used and measured, not (\S+)\n", result.stderr)
    assert result.stderr.rstrip().endswith(os.path.basename(other))
    assert calls(tmp_path / "e")["MPI_Barrier"] == 1


TOOL = r"""
#include <mpi.h>
#include <stdio.h>
int MPI_Barrier(MPI_Comm comm)
{
	puts("tool");
	return PMPI_Barrier(comm);
}
"""


def test_another_tool_keeps_its_calls(abi, hello, tmp_path):
    (tmp_path / "tool.c").write_text(TOOL)
    result = run(f"mpicc.{abi}", "-shared", "-fPIC", tmp_path / "tool.c", "-o", tmp_path / "tool.so")
    assert result.returncode == 0, result.stderr
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "e", hello, env={**ROOT, "LD_PRELOAD": str(tmp_path / "tool.so")})
    assert (result.returncode, result.stdout, result.stderr) == (0, "tool\nfine\n", "")
    assert calls(tmp_path / "e")["MPI_Barrier"] == 1


def test_linked_wrappers(abi, tmp_path):
    """Without hybrid-run they do nothing; with it each call counts once, although the stubs are there, too."""
    (tmp_path / "hello.c").write_text(HELLO)
    result = run(f"mpicc.{abi}", tmp_path / "hello.c", "-o", tmp_path / "hello", f"-L{ROOM}/linked",
                 f"-lhybrid-mpi-{abi}", "-ldl")
    assert result.returncode == 0, result.stderr
    result = run(tmp_path / "hello", env=ROOT)
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "e", tmp_path / "hello", env=ROOT)
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")
    assert calls(tmp_path / "e") == {"MPI_Init": 1, "MPI_Barrier": 1, "MPI_Finalize": 1}

"""The house rules that a machine can check."""

import os
import re
from graphlib import CycleError, TopologicalSorter

import pytest

from conftest import BUILD, HYBRID_RUN, SOURCE, run


def sources(*suffixes):
    """The files of the project, without what is built; those that are not committed yet, too."""
    found = []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [name for name in folders if not name.startswith(("build", "hyb-", "."))]
        found += [os.path.relpath(os.path.join(folder, name), SOURCE) for name in names]
    return sorted(name for name in found if name.endswith(suffixes))


def test_format(needs):
    needs("clang-format")
    files = [name for name in sources(".c", ".h") if not name.startswith("tests/programs/corpus/")]
    result = run("clang-format", "--dry-run", "-Werror", *files, cwd=SOURCE)
    assert result.returncode == 0, result.stderr


def test_cppcheck(needs):
    needs("cppcheck")
    result = run("cppcheck", "-q", "-j2", "--enable=warning,performance", "--std=c11", "--inline-suppr",
                 "--suppressions-list=tests/e2e/cppcheck.txt", "--error-exitcode=1", "-D_GNU_SOURCE", "-D__GNUC__", "-D__x86_64__", "-DElfW(type)=Elf64_##type", "-Iinclude", "-Isrc", "-Isrc/runtime/arch/x86_64", "-I.", "src", "converters", "viewer", cwd=SOURCE, timeout=300)
    assert result.returncode == 0, result.stderr


# Each room, and what it may use; also the folders inside of them.
ARROWS = {
    "src/base": "", "src/format": "base", "src/launch": "base format", "src/runtime/arch": "", "src/runtime": "base format launch runtime/arch",
    "src/mpi": "base format runtime", "src/reader": "base format", "src/binary": "base format", "src/import": "base format reader",
    "src/profile": "base format reader binary", "src/session": "base profile", "src/analysis": "base format reader profile", "src/network": "base",
    "src/quality": "base format reader profile session analysis",
    "src/run": "base format launch runtime/arch", "src/report": "base format reader binary import profile session analysis network quality",
    "src/dump": "base format reader import",
    "converters": "base format launch reader binary import profile session analysis quality",
    "viewer": "base format launch reader binary import profile session analysis quality",
}


def room_of(path):
    if path.startswith("src/runtime/arch/"):
        return "src/runtime/arch"
    return "/".join(path.split("/")[:2]) if path.startswith("src/") else path.split("/")[0]


def test_rooms_include_only_what_they_may():
    wrong = []
    for name in sources(".c", ".h"):
        room = room_of(name)
        if room not in ARROWS:
            continue
        for included in re.findall(r'^#include "([\w/.]+)"', (SOURCE / name).read_text(), re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(name), included))
            found = [path for path in (beside, f"src/{included}", f"{room}/{included}", included) if (SOURCE / path).is_file()]
            other = room_of(found[0]) if found else "" # made by the build, or a public header
            if other in ARROWS and other != room and other.removeprefix("src/") not in ARROWS[room].split():
                wrong.append(f"{name} includes {included}")
    assert not wrong


def uses_by_symbols(room):
    """Of each object in the room's libraries the others whose functions or variables it uses."""
    defined, wanted, name = {}, {}, ""
    for library in (BUILD / "src" / room).glob("lib*.a"):
        for line in run("nm", library).stdout.splitlines():
            words = line.split()
            if line.endswith(":"):
                name = os.path.basename(line[:-1])
                wanted[name] = set()
            elif len(words) == 2 and words[0] == "U":
                wanted[name].add(words[1])
            elif len(words) == 3 and words[1].isupper():
                defined[words[2]] = name
    return {name: {defined[symbol] for symbol in symbols if symbol in defined} - {name} for name, symbols in wanted.items()}


@pytest.mark.parametrize("room", ["analysis", "reader", "profile"])
def test_no_circle_of_files(room):
    """Whatever a file uses, directly or not, does not use the file: the linker's view."""
    uses = uses_by_symbols(room)
    assert len(uses) > 10
    try:
        list(TopologicalSorter(uses).static_order())
    except CycleError as circle:
        pytest.fail(f"{room}: {' -> '.join(circle.args[1])}")


def test_no_circle_of_headers():
    for room in ARROWS:
        files = [name for name in sources(".h") if room_of(name) == room]
        uses = {}
        for name in files:
            included = re.findall(r'^#include "([\w/.]+)"', (SOURCE / name).read_text(), re.M)
            beside = [os.path.normpath(os.path.join(os.path.dirname(name), path)) for path in included]
            uses[name] = set(files) & {*beside, *(f"src/{path}" for path in included), *included}
        list(TopologicalSorter(uses).static_order())  # raises what goes round


def test_no_folder_is_flat():
    """A room of many files has folders."""
    folders = [os.path.dirname(name) for name in sources(".c", ".h", ".py")]
    assert not {folder: folders.count(folder) for folder in folders if folders.count(folder) > 40}


@pytest.mark.parametrize("header", ["hybrid.h", "reader.h", "model.h"])
@pytest.mark.parametrize("compiler", ["gcc -std=c11 -x c", "clang -std=c11 -x c", "g++ -std=c++11 -x c++",
                                      "clang++ -std=c++11 -x c++", "g++ -std=c++20 -x c++"])
def test_header_compiles_alone(needs, compiler, header):
    needs(compiler.split()[0])
    result = run(*compiler.split(), "-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "-",
                 f"-I{SOURCE}/include", input=f"#include <hybrid/{header}>\nextern int nothing;\n")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("compiler", ["gcc -std=c11 -x c", "clang -std=c11 -x c", "g++ -std=c++11 -x c++"])
def test_probes_compile_pedantically(needs, compiler):
    needs(compiler.split()[0])
    text = """
#include <hybrid/hybrid.h>
int main(void)
{
	static struct hybrid_region region = HYBRID_REGION_INIT("r", HYBRID_LOOP);
	static struct hybrid_counter counter = HYBRID_COUNTER_INIT("c", "bytes");
	HYBRID_ENTER("a");
	hybrid_enter(&region);
	hybrid_count(&counter, 1);
	hybrid_leave(&region);
	HYBRID_LEAVE("a");
	return hybrid_measured();
}
"""
    result = run(*compiler.split(), "-O2", "-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-o", "/dev/null", "-",
                 f"-I{SOURCE}/include", input=text)
    assert result.returncode == 0, result.stderr


# ------------------------------------------------------------------ manuals

PAGES = sorted((SOURCE / "docs/man").glob("*.[1-9]"))
COMMANDS = sorted(path for path in BUILD.glob("**/hybrid-*") if path.is_file() and os.access(path, os.X_OK) and "." not in path.name)


def rendered(page):
    return re.sub(".\x08", "", run("mandoc", "-T", "ascii", page).stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_clean(needs, page):
    needs("mandoc")
    assert run("mandoc", "-T", "lint", "-W", "warning", page).stdout == ""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_and_page_name_the_same_options(needs, command):
    needs("mandoc")
    help_text = run(command, "--help").stdout
    page = rendered(SOURCE / f"docs/man/{command.name}.1")
    described = r"^ +(-\S.*)$"
    option = r"(?<![\w-])(?:--[a-z][a-z-]+|-[a-z])(?![\w-])"

    def options(text):
        # What begins a line is described there; two blanks or more end it.
        return {o for line in re.findall(described, text, re.M) for o in re.findall(option, re.split(r"  +", line)[0])}

    assert options(help_text), "no options in --help"
    assert options(help_text) == options(page)
    assert "Examples:" in help_text and "EXAMPLES" in page


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
@pytest.mark.parametrize("word, said", [
    ("--helq", "--helq: no such option; similar: --help"),
    ("--version=7", "--version: takes no value"),
    ("-Z", "-Z: no such option"),
])
def test_wrong_options_are_named(command, word, said):
    result = run(command, word)
    assert result.returncode == 2
    assert result.stderr.startswith(f"{command.name}: {said}") and "--help" in result.stderr


def test_pages_refer_to_pages_that_exist(needs):
    needs("mandoc")
    missing = set()
    for page in PAGES:
        for name, section in re.findall(r"\b(hybrid[\w.-]*)\((\d)\)", rendered(page)):
            if not (SOURCE / f"docs/man/{name}.{section}").exists():
                missing.add(f"{page.name}: {name}({section})")
    assert not missing


def test_probe_functions_have_a_page():
    """Each public name of hybrid.h stands in a page of section 3."""
    header = (SOURCE / "include/hybrid/hybrid.h").read_text()
    names = set(re.findall(r"^HYBRID_INLINE_ \w+ \**(hybrid_\w+)\(", header, re.M))
    names |= {name for name in re.findall(r"^#define (HYBRID_[A-Z_]+)\(", header, re.M) if not name.endswith("_")}
    assert len(names) > 10
    pages = "".join(page.read_text() for page in PAGES if page.suffix == ".3").replace("\\", "")
    assert not {name for name in names if not re.search(rf"\b{name}\b", pages)}


# ---------------------------------------------------------------- libraries


def dynamic_symbols(library, kind):
    result = run("nm", "-D", f"--{kind}-only", library)
    assert result.returncode == 0, result.stderr
    return {line.split()[-1].split("@")[0] for line in result.stdout.splitlines()}


def test_commands_export_nothing():
    for command in COMMANDS:
        assert not {name for name in dynamic_symbols(command, "defined") if name.startswith(("hyb", "profile"))}


LIBHYBRID = BUILD / "src/runtime/libhybrid.so"


def test_runtime_exports_its_own_and_what_it_wraps():
    """A name of ours could hide one of the program's; what is wrapped must be the C library's, or that of
    the compiler for exceptions."""
    libc = re.search(r"libc\.so\.6 => (\S+)", run("ldd", HYBRID_RUN).stdout).group(1)
    own = {"hybrid_api_1", "hybrid_mpi_1", "__cyg_profile_func_enter", "__cyg_profile_func_exit"}
    exceptions = {"__register_frame", "__deregister_frame"}
    exported = dynamic_symbols(LIBHYBRID, "defined")
    assert own <= exported
    assert exported - own - exceptions <= dynamic_symbols(libc, "defined")


# What the runtime may call of the C library. No heap, no lock, no stdio stream stands here: in the measured program
# those may be held by the very thread that a sample interrupts. dl_iterate_phdr, dlsym, dladdr1: not in the handler.
IMPORTS = set("""
memchr memcmp mempcpy strchrnul bcmp memcpy memmove memset strchr strcmp strcspn strcpy stpcpy strlen strncat strncmp strnlen strsep strrchr strstr strtoul strtoull sscanf snprintf __ctype_b_loc
strerrordesc_np
open close fcntl fstat stat statfs lseek link unlink readlink ioctl mmap munmap madvise prctl syscall getpid getppid getuid geteuid getgid clock_gettime clock_getres gethostname
getrlimit setrlimit getrusage getsockopt getauxval getenv environ __environ program_invocation_name __progname_full __errno_location
sigaddset sigdelset sigemptyset sigfillset sigismember sigaltstack
dlsym dlvsym dladdr1 dl_iterate_phdr pthread_self __register_atfork __cxa_at_quick_exit __cxa_finalize __libc_stack_end
pthread_attr_getstacksize pthread_getattr_default_np pthread_attr_destroy pthread_key_create pthread_setspecific pthread_mutex_unlock pthread_exit
__gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
""".split())


def test_runtime_imports_nothing_that_could_wait():
    plain = {re.sub(r"^__isoc\d+_|64$", "", name) for name in dynamic_symbols(LIBHYBRID, "undefined")}
    assert not plain - IMPORTS


def test_runtime_needs_the_c_library_only():
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", LIBHYBRID).stdout))
    assert {re.sub(r"^ld-linux.*", "ld", name) for name in needed} <= {"libc.so.6", "ld"}


def test_runtime_has_initial_exec_tls_and_no_text_relocations():
    """Otherwise the first access of a thread could allocate, in a handler."""
    relocations = run("readelf", "-rW", LIBHYBRID).stdout
    assert "DTPMOD" not in relocations and "TLSDESC" not in relocations
    assert "TEXTREL" not in run("readelf", "-d", LIBHYBRID).stdout


def variables(object_file):
    """(name, is thread-local, is seen by other files) of each that can be written; no inline one of the public header."""
    for line in run("objdump", "-t", object_file).stdout.splitlines():
        found = re.match(r"[0-9a-f]{16} (.).{6} (\S+)\t[0-9a-f]{16} (?:\.hidden )?([A-Za-z]\w*)(?:\.\d+)?$", line)
        if found and found[1] in "lg" and re.match(r"\.t?(bss|data)$|\*COM\*", found[2]):
            yield found[3], found[2].startswith(".t"), found[1] == "g"


def test_runtime_says_which_variables_it_has():
    objects = sorted(path for path in LIBHYBRID.with_name(f"{LIBHYBRID.name}.p").glob("*.o"))
    found = {variable for path in objects for variable in variables(path)}
    seen = {name for name, _, everywhere in found if everywhere}
    of_threads = {name for name, thread_local, _ in found if thread_local}
    assert ("regions", False, False) in found
    assert seen == {"rt", "self", "store", "python", "hooks", "recursion", "real_functions", "wrap_system_call_target"}
    assert of_threads == {"self", "forking", "thread_ended"}
    with open(f"{SOURCE}/src/runtime/runtime.h", encoding="utf-8") as file:
        said = file.read().split("*/", 1)[0]
    assert not [name for name in seen | of_threads if not re.search(rf"\b{name}\b", said)]


def test_page_of_the_api_tells_of_each_function():
    """What it takes, whether that is a total, and what it costs."""
    with open(f"{SOURCE}/include/hybrid/hybrid.h", encoding="utf-8") as file:
        functions = re.findall(r"^HYBRID_INLINE_ \w+ (hybrid_\w+)\(", file.read(), re.M)
    with open(f"{SOURCE}/docs/man/hybrid_api.3", encoding="utf-8") as file:
        page = file.read()
    section = page.split(".Ss What each function takes", 1)[1].split(".Ss ", 1)[0]
    items = re.split(r"^\.It ", section, flags=re.M)[1:]
    assert len(functions) > 10
    for name in functions:
        item, = [item for item in items if re.search(rf"Fn {name}\b", item.split("\n", 1)[0])]
        assert "Cost: " in item, name
    assert "a total, no increment" in section and "thread-safe and async-signal-safe" in section

"""hybrid-report by several ranks of MPI: the same bytes, the same warnings, the same status as by one process."""

import json
import os
import shutil

import pytest

from conftest import BUILD, HYBRID_REPORT, run
from mpi import need

SYNTHETIC = BUILD / "bench/synthetic"
VIEWS = ["--tree --json", "--reverse", "--flat=line", "--flat=rank --json", "--mpi --json", "--messages", "--over-ranks",
         "--quality", "--by-rank --depth 2", "--by-thread --csv", "--ranks 0-3,70 --callsites"]
THREADS = r"""
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *name)
{
	HYBRID_ENTER("work");
	for (volatile int i = 0; i < 20000000; i++)
		;
	HYBRID_LEAVE("work");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		pthread_create(&thread, NULL, work, NULL);
		work(NULL);
		pthread_join(thread, NULL);
		if (i == 2 && argc == 1)
			execl(argv[0], argv[0], "again", NULL);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


@pytest.fixture(params=["mpich", "openmpi"])
def launcher(request):
    """What stands in front of a command so that `ranks` processes run it."""
    need(request.param)
    more = ["--allow-run-as-root", "--oversubscribe"] if request.param == "openmpi" else []
    return lambda ranks: ["timeout", "-k", "5", "50", f"mpiexec.{request.param}", *more, "-n", str(ranks)]


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """Makes an experiment of so many ranks; returns its path and what is known of it."""
    made = {}

    def make(*numbers):
        if numbers not in made:
            path = tmp_path_factory.mktemp("synthetic") / "exp"
            result = run(SYNTHETIC, path, *numbers)
            assert result.returncode == 0, result.stderr
            made[numbers] = path, {name: int(value) for name, value in map(str.split, result.stdout.splitlines())}
        return made[numbers]

    return make


def outcome(*command):
    """Status, output and what hybrid-report itself says: Open MPI's mpiexec has words of its own for a status."""
    result = run(*command)
    said = [line for line in result.stderr.splitlines(True) if line.startswith("hybrid-report")]
    return result.returncode, result.stdout, "".join(said)


def assert_same(launch, *arguments):
    """Whatever it is, the ranks say it as one process does; returns that."""
    alone = outcome(HYBRID_REPORT, *arguments)
    assert outcome(*launch, HYBRID_REPORT, *arguments) == alone
    return alone


def test_all_views(launcher, synthetic):
    path, _ = synthetic(150, 200)
    for number, view in enumerate(VIEWS):
        assert assert_same(launcher(2 + number % 4), *view.split(), path)[0] == 0


def test_account_of_processes_in_several_parts(launcher, measure, compile_c):
    """Who waited for a process may be in another rank's files than it."""
    quick = compile_c("""
#include <sys/syscall.h>
#include <unistd.h>
int main(void) { for (volatile int i = 0; i < 20000000; i++); syscall(SYS_exit_group, 3); }
""")
    static = compile_c("int main(void) { for (volatile int i = 0; i < 50000000; i++); }\n", "-static")
    e = measure("sh", "-c", f"{quick}; {static}; {quick}; env -i {quick}; {quick}")
    status, text, _ = assert_same(launcher(3), "--json", e.path)
    quality = json.loads(text)["quality"]
    assert status == 0 and quality["killed"] == 0
    assert {one["why"] for one in quality["account"]["unmeasured"]} == {"static", "environment"}


def test_sums_are_right(launcher, synthetic):
    path, truth = synthetic(150, 200)
    report = json.loads(run(*launcher(3), HYBRID_REPORT, "--json", path).stdout)
    quality = report["quality"]
    assert (quality["processes"], quality["threads"]) == (truth["ranks"], truth["locations"])
    assert (quality["samples"], quality["thread_wall_ns"]) == (truth["samples"], truth["thread_wall_ns"])
    assert report["nodes"][0]["inclusive_ns"] == truth["thread_wall_ns"]
    assert sum(node["calls"] for node in report["nodes"] if node["name"].startswith("MPI_")) == truth["mpi_calls"]


def test_files_of_several_processes(launcher, synthetic):
    path, truth = synthetic(150, 200, 5, 2)
    _, text, _ = assert_same(launcher(3), "--flat=thread", "--json", path)
    assert json.loads(text)["quality"]["threads"] == truth["locations"] == 300
    assert_same(launcher(8), "--messages", "--json", path)  # more ranks than files


def test_many_threads(launcher, synthetic, tmp_path):
    """What is in a file counts as often as the file is there."""
    path, truth = synthetic(100, 0, 1, 16)
    for number in range(20):
        os.symlink(next(path.glob("*.hyb")), tmp_path / f"copy{number}.hyb")
    _, text, _ = assert_same(launcher(3), "--quality", "--json", tmp_path)
    assert json.loads(text)["quality"]["threads"] == 20 * truth["locations"] == 32000


def test_several_experiments_and_their_difference(launcher, synthetic, tmp_path):
    first, second = synthetic(150, 200)[0], synthetic(7, 100, 2)[0]
    files = sorted(first.glob("*.hyb"))
    assert_same(launcher(3), "--json", first, second, files[0])
    assert_same(launcher(5), "--json", *files[:3])
    assert_same(launcher(4), "--json", "--diff", first, second)
    assert_same(launcher(2), "--diff", first, tmp_path)[0] == 1


def test_damaged_files(launcher, synthetic, tmp_path):
    path = tmp_path / "exp"
    shutil.copytree(synthetic(150, 200)[0], path)
    files = sorted(path.glob("*.hyb"))
    files[3].write_bytes(b"")
    files[50].write_bytes(files[50].read_bytes()[:20000])
    files[51].write_bytes(b"no measurement")
    files[149].write_bytes(bytes(9000))
    for number in range(100, 140, 3):
        data = bytearray(files[number].read_bytes())
        data[number * 100:number * 100 + 64] = b"\xff" * 64
        files[number].write_bytes(data)
    status, text, _ = assert_same(launcher(4), "--json", path)
    assert status == 0 and json.loads(text)["quality"]["processes"] == 147
    assert len(json.loads(text)["quality"]["damage_texts"]) >= 4
    assert_same(launcher(3), path)


def test_nothing_to_show(launcher, synthetic, tmp_path):
    path = synthetic(7, 100, 2)[0]
    for arguments, expected in ([tmp_path], 1), ([tmp_path / "none"], 1), (["--process", "5", path], 1), (["--bad"], 2):
        status, text, error = assert_same(launcher(3), *arguments)
        assert (status, text, error.count("\n")) == (expected, "", 1)
    for name in "a-1.0.hyb", "b-2.0.hyb", "c-3.0.hyb":
        (tmp_path / name).write_text(name * 100)
    status, text, error = assert_same(launcher(3), tmp_path)
    assert (status, text) == (1, "") and error.endswith("a-1.0.hyb: not a .hyb file\n")
    assert assert_same(launcher(3), "--help")[0] == 0


def test_real_threads_and_programs(launcher, measure, compile_c):
    e = measure(compile_c(THREADS, "-O1", "-pthread"))
    for path in sorted(e.path.glob("symbols.cache*")):
        path.unlink()
    first = outcome(*launcher(4), HYBRID_REPORT, "--json", e.path)
    assert [path.name for path in e.path.glob("symbols.cache*")] == ["symbols.cache"]
    assert outcome(HYBRID_REPORT, "--json", e.path) == first
    quality = json.loads(first[1])["quality"]
    assert (quality["processes"], quality["programs"]) == (9, 10)  # one came again, and made four more
    assert_same(launcher(3), "--by-thread", e.path)


def test_rank_0_alone(synthetic, tmp_path):
    path = synthetic(7, 100, 2)[0]
    alone = run(HYBRID_REPORT, path).stdout
    shutil.copy(HYBRID_REPORT, tmp_path)
    for program, options, variables, said in (
            (tmp_path / "hybrid-report", [], ("PMI_RANK", "PMI_SIZE"), "no libhybrid-ranks-mpich.so"),
            (tmp_path / "hybrid-report", [], ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), "no libhybrid-ranks-openmpi"),
            (HYBRID_REPORT, [], ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"), "--mpi=pmi2"),
            (HYBRID_REPORT, ["--serial"], ("PMI_RANK", "PMI_SIZE"), "")):
        for rank in 0, 1:
            result = run(program, *options, path, env={**os.environ, variables[0]: str(rank), variables[1]: "2"})
            assert result.returncode == 0
            assert result.stdout == ("" if rank else alone)
            assert result.stderr.count("\n") == (1 if said and not rank else 0)
            assert rank or said in result.stderr


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_variables_without_launcher(synthetic, mpi):
    """As where a rank of another program starts a report: MPI knows of no others."""
    need(mpi)
    path = synthetic(7, 100, 2)[0]
    rank, size = {"mpich": ("PMI_RANK", "PMI_SIZE"), "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")}[mpi]
    result = run(HYBRID_REPORT, path, env={**os.environ, rank: "0", size: "3"})
    assert (result.returncode, result.stdout) == (0, run(HYBRID_REPORT, path).stdout)
    assert "rank 0 works alone" in result.stderr

"""hybrid-run in launches: one experiment for all ranks, whoever starts them. Most launches here are made of plain
environment variables; the last ones are real."""

import os
import re
import signal
import subprocess
import time

import pytest

from conftest import HYBRID_DUMP, HYBRID_REPORT, HYBRID_RUN, TIMEOUT, children, read_values, report_json, run, wait_until
from mpi import NAMES, Mpi

KINDS = {
    "hydra": lambda rank, size: {"PMI_RANK": rank, "PMI_SIZE": size, "MPI_LOCALNRANKS": size},
    "openmpi": lambda rank, size: {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "PMIX_RANK": rank,
                                   "PMIX_NAMESPACE": "4711"},
    "slurm": lambda rank, size: {"SLURM_JOB_ID": 7, "SLURM_STEP_ID": 1, "SLURM_PROCID": rank,
                                 "SLURM_STEP_NUM_TASKS": size, "SLURM_STEP_TASKS_PER_NODE": f"{size}(x1)"},
    "pals": lambda rank, size: {"PALS_APID": "a-b", "PALS_RANKID": rank, "PMI_RANK": rank, "PMI_SIZE": size},
}


def start(rank, size, *command, cwd, options=(), kind="hydra", **more):
    words = [str(word) for word in (HYBRID_RUN, *options, *command)]
    environment = {**os.environ, **{key: str(value) for key, value in KINDS[kind](rank, size).items()}}
    return subprocess.Popen(words, env=environment, cwd=cwd, stderr=subprocess.PIPE, text=True, **more)


def launch(size, *command, **more):
    """Runs all ranks at once; their exit statuses, and all that they said."""
    ranks = [start(rank, size, *command, **more) for rank in range(size)]
    said = "".join(rank.communicate(timeout=TIMEOUT)[1] for rank in ranks)
    return [rank.returncode for rank in ranks], said


def experiments(folder):
    """There is nothing else that a launch leaves."""
    names = sorted(os.listdir(folder))
    assert all(name.startswith("hyb-") for name in names), names
    for name in names:
        assert not [n for n in os.listdir(folder / name) if n.startswith((".", "ranks-"))]
    return [folder / name for name in names]


def rank_lines(experiment):
    lines = [line.split() for line in (experiment / "experiment").read_text().splitlines()]
    return [words[1:] for words in lines if words[0] == "rank"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 24])
def test_ranks_find_each_other(tmp_path, kind, size):
    statuses, said = launch(size, "env", cwd=tmp_path, kind=kind, stdout=subprocess.DEVNULL)
    assert statuses == [0] * size
    (experiment,) = experiments(tmp_path)
    assert re.fullmatch(r"hyb-env-\d{8}-\d{6}", experiment.name)
    assert len(said.splitlines()) == 4 and f"experiment in {experiment.name}\n" in said  # never called MPI
    assert f"{size} ranks on 1 host: " in said
    assert len(list(experiment.glob("*.hyb"))) == size
    assert [int(words[0]) for words in rank_lines(experiment)] == list(range(size))
    values = read_values(experiment)
    assert (values["ranks"], values["hosts"], values["status"]) == (str(size), "1", "exit 0")
    walls = [int(words[3]) for words in rank_lines(experiment)]
    assert int(values["wall_ns"]) == max(walls)


def test_one_launch_after_the_other(tmp_path):
    """The same variables, the same parent: two experiments."""
    for count in (1, 2, 3):
        assert launch(3, "true", cwd=tmp_path)[0] == [0, 0, 0]
        assert len(experiments(tmp_path)) == count
    assert all(len(rank_lines(e)) == 3 for e in experiments(tmp_path))


def test_a_rank_alone_is_a_run_as_any(tmp_path):
    statuses, said = launch(1, "true", cwd=tmp_path)
    (experiment,) = experiments(tmp_path)
    assert "rank" not in said and "ranks" not in read_values(experiment)


def test_wanted_directory(tmp_path):
    options = ["-o", tmp_path / "hyb-x"]
    statuses, said = launch(8, "true", cwd=tmp_path, options=options)
    assert statuses == [0] * 8 and said.count("experiment in ") == 1
    assert len(rank_lines(*experiments(tmp_path))) == 8
    before = sorted(os.listdir(tmp_path / "hyb-x"))
    statuses, said = launch(2, "true", cwd=tmp_path, options=options)
    assert statuses == [1, 1] and said.count("is not empty; choose another") == 2
    assert sorted(os.listdir(tmp_path / "hyb-x")) == before
    (tmp_path / "empty").mkdir()
    assert launch(4, "true", cwd=tmp_path, options=["-o", "empty"])[0] == [0] * 4
    assert len(rank_lines(tmp_path / "empty")) == 4
    statuses, said = launch(2, "true", cwd=tmp_path, options=["-o", "none/x"])
    assert statuses == [1, 1] and said.count("cannot create the directory none/x: ") == 2


def test_ranks_that_fail(tmp_path):
    """All keep their statuses. Seven fail: five are named, the rest are counted; one of them may have spoken first."""
    statuses, said = launch(8, "sh", "-c", "exit $PMI_RANK", cwd=tmp_path)
    assert statuses == list(range(8))
    (experiment,) = experiments(tmp_path)
    assert [words[6:8] for words in rank_lines(experiment)] == [["exit", str(n)] for n in range(8)]
    assert re.findall(r"rank (\d) on \S+ ended by exit (\d)", said) == [(str(n), str(n)) for n in range(1, 6)]
    assert "2 more ranks failed: see the file `experiment`" in said
    assert len(re.findall(r"rank \d of 8 ended by exit \d; experiment in", said)) <= 2
    assert read_values(experiment)["status"] == "exit 1"


def test_what_fails_by_itself_counts(tmp_path):
    """Launchers end the others by SIGTERM."""
    script = "if [ $PMI_RANK = 2 ]; then kill -SEGV $$; else kill -TERM $$; fi"
    statuses, said = launch(3, "sh", "-c", script, cwd=tmp_path)
    assert statuses == [-signal.SIGTERM, -signal.SIGTERM, -signal.SIGSEGV]
    assert read_values(*experiments(tmp_path))["status"] == "signal SIGSEGV"


def test_programs_differ(tmp_path):
    ranks = [start(0, 3, "true", cwd=tmp_path), *(start(n, 3, "printf", "a b", cwd=tmp_path,
                                                        stdout=subprocess.DEVNULL) for n in (1, 2))]
    for rank in ranks:
        rank.communicate(timeout=TIMEOUT)
    (experiment,) = experiments(tmp_path)
    assert [words[8:] for words in rank_lines(experiment)] == [[], ["printf", "'a", "b'"], ["printf", "'a", "b'"]]


def test_a_late_rank_is_waited_for(tmp_path):
    """The others have ended before it began; it may have been another host's turn."""
    early = [start(rank, 3, "true", cwd=tmp_path) for rank in (0, 1)]
    time.sleep(0.6)
    late = start(2, 3, "true", cwd=tmp_path)
    said = "".join(rank.communicate(timeout=TIMEOUT)[1] for rank in (*early, late))
    assert "3 ranks on 1 host" in said and said.count("experiment in ") == 1
    assert len(rank_lines(*experiments(tmp_path))) == 3


def test_some_ranks_are_not_measured(tmp_path):
    """mpiexec -n 2 hybrid-run ./a : -n 2 ./b"""
    ranks = [start(rank, 4, "true", cwd=tmp_path) for rank in (1, 3)]
    said = "".join(rank.communicate(timeout=TIMEOUT)[1] for rank in ranks)
    assert "2 ranks on 1 host" in said and said.count("experiment in ") == 1
    assert [words[0] for words in rank_lines(*experiments(tmp_path))] == ["1", "3"]


def test_a_killed_launch_catches_nobody(tmp_path):
    """It leaves a marker that has the same name as that of the next launch."""
    ranks = [start(rank, 3, "sleep", "60", cwd=tmp_path, start_new_session=True) for rank in (0, 1)]
    markers = wait_until(lambda: list(tmp_path.glob(".hyb-launch-*")))
    wait_until(lambda: all(children(rank.pid) for rank in ranks))
    for rank in ranks:
        os.killpg(rank.pid, signal.SIGKILL)
        rank.communicate(timeout=TIMEOUT)
    assert markers[0].exists()
    statuses, said = launch(3, "true", cwd=tmp_path)
    assert statuses == [0, 0, 0]
    assert not markers[0].exists() and not list(tmp_path.glob(".hyb-*"))
    (experiment,) = [path for path in tmp_path.glob("hyb-true-*")]
    assert [words[0] for words in rank_lines(experiment)] == ["0", "1", "2"]


def test_a_killed_rank_is_listed(tmp_path):
    """Its hybrid-run could not say a word."""
    ranks = [start(rank, 2, "sleep", "1.5" if rank else "60", cwd=tmp_path, start_new_session=True)
             for rank in (0, 1)]
    wait_until(lambda: all(children(rank.pid) for rank in ranks))
    os.killpg(ranks[0].pid, signal.SIGKILL)
    ranks[0].communicate(timeout=TIMEOUT)
    said = ranks[1].communicate(timeout=TIMEOUT)[1]
    assert "rank 0 on " in said and "ended by the kill of its hybrid-run" in said
    (experiment,) = experiments(tmp_path)
    assert [words[6] for words in rank_lines(experiment)] == ["lost", "exit"]


@pytest.mark.parametrize("files", ["process", "node"])
def test_two_hosts(tmp_path, files):
    """As far as one machine goes: another clock, and so other files."""
    apart = ["unshare", "--time", "--fork", "--monotonic", "5000"]
    if run(*apart, "true").returncode:
        pytest.skip("may not make a time namespace here")
    environment = {**os.environ, **{key: str(value) for key, value in KINDS["openmpi"](1, 2).items()}}
    options = ["-o", tmp_path / "hyb-x", f"--files={files}"]
    ranks = [start(0, 2, "sleep", "0.3", cwd=tmp_path, kind="openmpi", options=options),
             subprocess.Popen([*apart, HYBRID_RUN, *options, "sleep", "0.8"], env=environment, cwd=tmp_path,
                              stderr=subprocess.PIPE, text=True)]
    said = [rank.communicate(timeout=TIMEOUT)[1] for rank in ranks]
    assert said[0] == "" and "2 ranks on 2 hosts: " in said[1]
    (experiment,) = experiments(tmp_path)
    assert read_values(experiment)["hosts"] == "2"
    assert len(list(experiment.glob("*.hyb"))) == 2
    assert len(set(re.findall(r" domain (\S+)", run(HYBRID_DUMP, experiment).stdout))) == 2


def test_quiet_ranks(tmp_path):
    assert launch(4, "false", cwd=tmp_path, options=["-q"]) == ([1] * 4, "")


def test_no_mpi_where_it_was_promised(tmp_path):
    said = launch(3, "true", cwd=tmp_path)[1]
    assert said.count("3 processes were started as ranks of 3 but never called MPI: 0, 1, 2\n") == 1
    said = launch(3, "true", cwd=tmp_path, options=["--mpi=off"])[1]
    assert "never called" not in said


def test_mpi_that_is_linked_in(measure, compile_c):
    e = measure(compile_c("int MPI_Init(int *c, char ***v)\n{\n\treturn !c + !v;\n}\nint main(void)\n{\n\treturn 0;\n}\n"))
    assert re.search(r"has MPI linked into it, statically: link it with -lhybrid-mpi-mpich or -lhybrid-mpi-openmpi",
                     e.stderr)


@pytest.mark.parametrize("interpreter", ["/bin/sh", "/usr/bin/python3"])
def test_launchers_are_not_measured(measure, tmp_path, interpreter):
    """A script of a launcher's name, a shell between it and the program."""
    text = {"/bin/sh": 'PMI_RANK=0 PMI_SIZE=1 sh -c "true; true; exec env"\n',
            "/usr/bin/python3": 'import os\nos.environ.update(PMI_RANK="0", PMI_SIZE="1")\nos.system("env")\n'}[interpreter]
    (tmp_path / "mpirun").write_text(f"#!{interpreter}\n{text}")
    (tmp_path / "mpirun").chmod(0o755)
    e = measure(tmp_path / "mpirun")
    assert e.returncode == 0 and "only its total time" not in e.stderr
    assert len(e.files) == 1  # env
    assert re.search(r"^OMPI_MCA_mca_base_env_list=LD_PRELOAD;HYBRID_DIR;HYBRID_OPTIONS$", e.stdout, re.M)
    e = measure(tmp_path / "mpirun", "-x", "A")
    assert "mca_base_env_list" not in e.stdout
    e = measure("sh", "-c", '("$0"); true', tmp_path / "mpirun")
    (launcher,) = e.report()["quality"]["account"]["unmeasured"]
    assert (launcher["program"], launcher["why"]) == (str(tmp_path / "mpirun"), "launcher")


# ------------------------------------------------------------------ real launches


@pytest.fixture(scope="module", params=NAMES)
def mpi(request, tmp_path_factory):
    return Mpi(request.param, tmp_path_factory.mktemp(request.param))


HELLO = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, sum;
	char line[100] = "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank && fgets(line, sizeof(line), stdin))
		printf("%s", line);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (argc > 1 && rank == 1)
		return !strcmp(argv[1], "abort") ? MPI_Abort(MPI_COMM_WORLD, 7) : 0;
	MPI_Finalize();
	if (!rank)
		printf("sum %d\n", sum);
	return 0;
}
"""


@pytest.mark.parametrize("files", ["process", "node"])
def test_hybrid_run_in_mpiexec(mpi, tmp_path, files):
    program = mpi.compile(HELLO)
    result = run(*mpi.mpiexec_words(4), HYBRID_RUN, f"--files={files}", program, cwd=tmp_path, input="hello\n",
                 env=mpi.environment())
    assert (result.returncode, result.stdout) == (0, "hello\nsum 6\n"), result.stderr
    (experiment,) = experiments(tmp_path)
    assert result.stderr.count("experiment in ") == 1 and "4 ranks on 1 host: " in result.stderr
    assert "never called" not in result.stderr
    assert len(list(experiment.glob("*.hyb"))) == (4 if files == "process" else 1)
    assert len(rank_lines(experiment)) == 4
    assert "MPI_Init" in run(HYBRID_REPORT, experiment).stdout


def test_mpiexec_in_hybrid_run(mpi, tmp_path):
    program = mpi.compile(HELLO)
    result = run(HYBRID_RUN, *mpi.mpiexec_words(4)[4:], program, cwd=tmp_path, input="hello\n", env=mpi.environment())
    assert (result.returncode, result.stdout) == (0, "hello\nsum 6\n"), result.stderr
    (experiment,) = experiments(tmp_path)
    assert "4 ranks on 1 host: " in result.stderr
    assert re.search(r"of 4 processes, \d+ threads", result.stderr)
    assert len(list(experiment.glob("*.hyb"))) == 4  # no launcher, no proxy
    assert len(result.stderr.splitlines()) == 3, result.stderr


def test_programs_of_one_launch(mpi, tmp_path):
    program, other = mpi.compile(HELLO), mpi.compile(HELLO, "-DOTHER")
    result = run(*mpi.mpiexec_words(1), HYBRID_RUN, program, ":", "-n", 2, HYBRID_RUN, other, cwd=tmp_path,
                 env=mpi.environment())
    assert (result.returncode, result.stdout) == (0, "sum 3\n"), result.stderr
    assert len(rank_lines(*experiments(tmp_path))) == 3
    assert result.stderr.count("3 ranks on 1 host") == 1


def test_abort(mpi, tmp_path):
    """The exit status is mpiexec's; what hybrid-run itself survives is said, and the files are whole in any case."""
    program = mpi.compile(HELLO)
    alone = run(*mpi.mpiexec_words(2), program, "abort", cwd=tmp_path, env=mpi.environment())
    result = run(*mpi.mpiexec_words(2), HYBRID_RUN, program, "abort", cwd=tmp_path, env=mpi.environment())
    assert result.returncode == alone.returncode == 7
    (experiment,) = tmp_path.glob("hyb-*")
    assert not list(tmp_path.glob(".hyb-*"))
    assert len(list(experiment.glob("*.hyb"))) == 2
    assert report_json(experiment)["quality"]["damage"] == 0


BUSY = HELLO.replace("	int rank, sum;", "	int rank, sum;\n	volatile double x = 0;\n"
                     "	for (int i = 0; i < 150000000; i++)\n		x += i;")


@pytest.mark.parametrize("shell", [(), ("sh", "-c", '("$0" "$@"); true')], ids=["command", "became"])
def test_time_of_ranks_is_not_the_launchers(mpi, tmp_path, shell):
    """What waits for ranks, and is not measured, has what it used itself."""
    result = run(HYBRID_RUN, *shell, *mpi.mpiexec_words(2)[4:], mpi.compile(BUSY), cwd=tmp_path, env=mpi.environment())
    assert result.returncode == 0, result.stderr
    account = report_json(*experiments(tmp_path))["quality"]["account"]
    (launcher,) = account["unmeasured"]
    assert launcher["why"] == "launcher" and launcher["cpu_ns"] + account["threads_ns"] <= 1.02 * account["cpu_ns"]
    assert account["unwaited_ns"] == 0


def test_cpu_of_ranks_that_the_launcher_does_not_wait_for(mpi, tmp_path):
    """A launcher that ends its ranks is not told what they used: what they measured of it counts."""
    program = mpi.compile(BUSY)
    result = run(HYBRID_RUN, *mpi.mpiexec_words(2)[4:], program, "abort", cwd=tmp_path, env=mpi.environment())
    assert result.returncode == 7
    (experiment,) = tmp_path.glob("hyb-*")
    (seconds,) = re.findall(r"([\d.]+) s CPU", result.stderr)
    assert float(seconds) >= report_json(experiment)["quality"]["cpu_ns"] / 1e9 - 0.001

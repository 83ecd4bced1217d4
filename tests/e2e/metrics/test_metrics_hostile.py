"""Programs that are not kind to what reads metrics in them."""

import json

import pytest

from test_metrics import FAULTS, SWITCHES, kernel_counts, processes  # noqa: F401 (a fixture)

HEAD = r"""
#define _GNU_SOURCE
#include <hybrid/hybrid.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
"""

# What a signal cuts short with EINTR: the switch away from the core is what comes as it begins to wait.
WAITS = r"""
	struct pollfd none;
	struct timespec t = {0, 20000000};
	int bad = 0;

	for (int i = 0; i < 10; i++)
		bad += poll(&none, 0, 20) != 0 || nanosleep(&t, NULL) || usleep(20000);
	printf("%d\n", bad);
	return 0;
}
"""

# Nothing is in the regions "nothing", and ten calls are around them. The traces of so many need more room in the file.
READS = r"""
	char buffer[100];
	int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);

	HYBRID_ENTER("around");
	for (int i = 0; i < 30000; i++) {
		HYBRID_ENTER("nothing");
		HYBRID_LEAVE("nothing");
	}
	for (int i = 0; i < 10; i++)
		if (read(in, buffer, sizeof(buffer)) != write(out, buffer, sizeof(buffer)))
			return 1;
	HYBRID_LEAVE("around");
	return 0;
}
"""

# What the kernel counts of it all, that is, with what the measurement reads.
READS_OF_ALL = r"""
static long read_calls(void)
{
	FILE *in = fopen("/proc/thread-self/io", "r");
	long calls = -1;

	if (!in || fscanf(in, "rchar: %*s wchar: %*s syscr: %ld", &calls) != 1)
		return -1;
	fclose(in);
	return calls;
}
"""

REGIONS = r"""
	long before = read_calls();

	for (int i = 0; i < 1000; i++) {
		HYBRID_ENTER("nothing");
		HYBRID_LEAVE("nothing");
	}
	printf("%ld\n", read_calls() - before);
	return 0;
}
"""

# Pages of the trace and of tables are touched in probes, where no sample is taken; the program's own come last.
FAULTS_IN_PROBES = r"""
	static volatile char pages[100][4096];

	for (int i = 0; i < 100000; i++) {
		HYBRID_ENTER("nothing");
		HYBRID_LEAVE("nothing");
	}
	for (int i = 0; i < 100; i++)
		pages[i][0] = 1;
	return 0;
}
"""

FAULTS_IN_PAUSE = r"""
	static volatile char pages[100][4096];

	hybrid_pause();
	for (int i = 0; i < 90; i++)
		pages[i][0] = 1;
	hybrid_resume();
	HYBRID_ENTER("behind");
	for (int i = 90; i < 100; i++)
		pages[i][0] = 1;
	HYBRID_LEAVE("behind");
	return 0;
}
"""

# Counters that no whole number can follow.
WILD = r"""
	static struct hybrid_region regions[] = {
		HYBRID_REGION_INIT("up", HYBRID_USER), HYBRID_REGION_INIT("down", HYBRID_USER), HYBRID_REGION_INIT("none", HYBRID_USER)};
	static struct hybrid_counter wild = HYBRID_COUNTER_INIT("wild", "");
	const double values[] = {1e300, -1e300, NAN};

	for (int i = 0; i < 3; i++) {
		hybrid_count_real(&wild, 0);
		hybrid_enter(&regions[i]);
		hybrid_count_real(&wild, values[i]);
		hybrid_leave(&regions[i]);
	}
	return 0;
}
"""

# Closes what is not its own, then has a pipe by all the numbers.
CLOSES = r"""
	char buffer[64];
	int ends[2];

	syscall(SYS_close_range, 3, ~0u, 0);
	HYBRID_ENTER("closed");
	if (pipe(ends) || write(ends[1], "text", 4) != 4)
		return 1;
	while (fcntl(ends[0], F_DUPFD, 3) >= 0)
		;
	for (int i = 0; i < 3; i++) {
		HYBRID_ENTER("inside");
		HYBRID_LEAVE("inside");
	}
	HYBRID_LEAVE("closed");
	printf("%zd\n", read(ends[0], buffer, sizeof(buffer)));
	return 0;
}
"""

# From here on the kernel refuses one of its calls.
FORBIDS = r"""
	static volatile char pages[10][50][4096];
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FORBIDDEN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, filter};

	HYBRID_ENTER("allowed");
	HYBRID_LEAVE("allowed");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	for (int i = 0; i < 10; i++) {
		HYBRID_ENTER("forbidden");
		for (int k = 0; k < 50; k++)
			pages[i][k][0] = 1;
		HYBRID_LEAVE("forbidden");
	}
	return 0;
}
"""


@pytest.fixture
def hostile(measure, compile_c):
    def function(body, options, limit=256):
        program = compile_c(HEAD + body, "-O1")
        return measure("sh", "-c", f'ulimit -n {limit}; exec "$0"', program, options=["-q", *options], timeout=30)

    return function


@pytest.mark.parametrize("rate", [[], ["-r", "0"], ["-r", "1000"]], ids=" ".join)
def test_program_that_waits_sees_no_eintr(hostile, rate):
    e = hostile(WAITS, ["-e", f"{SWITCHES}@1", *rate])
    assert (e.stdout, e.returncode) == ("0\n", 0)


def test_own_reading_is_not_counted_as_the_programs(hostile):
    e = hostile(READS, ["--trace", "--demote", "0:0", "-r", "500",
                        "-m", f"io::read_calls,io::read_chars,io::write_calls,io::write_chars,{FAULTS}"])
    assert e.returncode == 0, e.stderr
    p = processes(e)[-1]
    for name, calls in ("around", 10), ("nothing", 0):
        for which in "read", "write":
            assert p.grown(name, f"io::{which}_calls") == calls
            assert p.grown(name, f"io::{which}_chars") == 100 * calls


@pytest.mark.parametrize("options", [["-r", "0", "-m", FAULTS], ["-e", f"{FAULTS}@1"], ["-m", "io::read_calls"]], ids=" ".join)
def test_program_that_closes_all_descriptors(hostile, options):
    e = hostile(CLOSES, options, 40)
    assert (e.stdout, e.returncode) == ("4\n", 0)


@pytest.mark.parametrize("call", ["read", "pread64", "getrusage"])
def test_what_is_forbidden_stays_what_it_was(hostile, call):
    e = hostile(FORBIDS.replace("FORBIDDEN", f"SYS_{call}"),
                ["-e", f"{FAULTS}@1", "-m", "rusage::user_time,rusage::minor_faults,io::read_calls"])
    assert e.returncode == 0, e.stderr
    p = processes(e)[-1]
    assert p.grown("forbidden", "io::read_calls") == 0
    for metric in "rusage::user_time", "rusage::minor_faults", FAULTS:
        assert 0 <= p.grown("forbidden", metric) < 1e9


def test_text_is_read_once_for_all_its_metrics(measure, compile_c):
    program = compile_c(HEAD.replace("int main", READS_OF_ALL + "int main") + REGIONS, "-O1")
    metrics = [f"io::{what}_{of}" for what in ("read", "write") for of in ("chars", "calls", "bytes")]
    e = measure(program, options=["-q", "-r", "0", "-m", ",".join(metrics)])
    assert e.returncode == 0, e.stderr
    assert 2000 <= int(e.stdout) <= 2020  # at each enter and leave


def test_overflows_in_probes_are_made_up_for(hostile):
    e = hostile(FAULTS_IN_PROBES, ["--trace", "--demote", "0:0", "-r", "0", "-e", f"{FAULTS}@1"])
    p = processes(e)[-1]
    assert e.report()["quality"]["dropped"]["in_probe"] > 20
    (last,) = p.last.values()
    assert sum(p.values(node, True)[FAULTS] for node in p.nodes) == pytest.approx(last[0], abs=6)


def test_overflows_in_a_pause_are_not_charged_to_what_follows(hostile):
    p = processes(hostile(FAULTS_IN_PAUSE, ["-r", "0", "-e", f"{FAULTS}@1"]))[-1]
    assert 10 <= p.overflows("behind", FAULTS) <= 20


def test_counter_that_is_no_whole_number(hostile):
    p = processes(hostile(WILD, ["-r", "0", "-m", "user::wild"]))[-1]
    assert [p.grown(name, "user::wild") for name in ("up", "down", "none")] == [2**63 - 1, -2**63, 0]


@pytest.mark.parametrize("text, said, names", [
    ("x" * 20000, "HYBRID_METRICS is too long: no metrics are measured", []),
    ("\x1e".join(f"user::{i}" for i in range(18)), "HYBRID_METRICS has too many metrics: one is left out",
     [f"user::{i}" for i in range(16)]),
    *[(f"user::a\x1e{FAULTS}\x1f0\x1f{code}\x1f\x1euser::b", f"HYBRID_METRICS: the code of {FAULTS} is not understood: "
       "it is left out", ["user::a", "user::b"])
      for code in ("", "x", "+1:2:0", "+1:2:0:0,", "*1:2:0:0", "+1:2:0:0" * 5)],
], ids=["long", "many", "no code", "word", "short", "more", "sign", "parts"])
def test_list_that_is_not_understood(measure, compile_c, text, said, names):
    program = compile_c("int main(void)\n{\n\treturn 0;\n}\n")
    e = measure("sh", "-c", 'HYBRID_METRICS=$1 exec "$0"', program, text, options=["-q"])
    assert e.returncode == 0, e.stderr
    records = [json.loads(line) for line in e.dump("--json", "--defs").splitlines()]
    assert [record["name"] for record in records if record.get("type") == "metric"] == names
    assert [record for record in records if record.get("type") == "note" and said in record["text"]]

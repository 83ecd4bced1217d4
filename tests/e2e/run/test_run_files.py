"""hybrid-run: what it makes of the .hyb files after the run; the files here are made by hand."""

import os
import re
import struct

import pytest

from conftest import BUILD, HYBRID_REPORT, HYBRID_RUN, run

PAGE = 4096


def header(pid, claimed, host=None, image=0, trace_bytes=0, major=1):
    """struct hyb_header: magic, versions, size, claimed, pid, ppid, image, clock ... trace_bytes ... host."""
    data = bytearray(PAGE)
    struct.pack_into("<8sHHIQIII", data, 0, b"HYBRID\r\n", major, 0, 256, claimed, pid, 1, image)
    struct.pack_into("<Q", data, 104, trace_bytes)
    struct.pack_into("<64s", data, 176, (host or os.uname().nodename).encode())
    return bytes(data)


def location(samples, size=2 * PAGE, magic=0x4B4E4843):
    data = bytearray(2 * PAGE)
    struct.pack_into("<IHHIIQQ", data, 0, magic, 2, 0, size, 1, 1024, 0)
    struct.pack_into("<I", data, 32, 1)  # the id: 0 is one that nobody has
    struct.pack_into("<Q", data, 32 + 56, samples)
    return bytes(data)


def gone():
    """The number of a process that is no more."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


@pytest.fixture
def harvest(measure, tmp_path):
    """harvest(content ...): a run that leaves these files; their sizes afterwards, and what was said."""

    def function(*contents, command="true"):
        for i, content in enumerate(contents):
            (tmp_path / f"made-{i}").write_bytes(content)
        script = 'for f in made-*; do cp "$f" "$HYBRID_DIR/$f.hyb"; done; ' + command
        e = measure("sh", "-c", script, env={**os.environ, "LD_PRELOAD": ""}, options=["-r", "0"])
        sizes = [os.path.getsize(e.path / f"made-{i}.hyb") for i in range(len(contents))]
        return sizes, e.stderr.splitlines()[1]

    return function


def counted(line):
    """The numbers of samples, processes, threads in the second line."""
    match = re.search(r"; (\d+) samples? of (\d+) process(?:es)?, (\d+) threads?; (.*) of trace", line)
    return tuple(int(match[i]) for i in (1, 2, 3)) + (match[4],)


def test_files_stay_as_they_are(harvest):
    """Whatever stands behind the last chunk."""
    data = header(gone(), 3 * PAGE) + location(7) + bytes(PAGE * 9)
    assert harvest(data)[0] == [len(data)]


def test_counts(harvest):
    sizes, line = harvest(header(gone(), 5 * PAGE, trace_bytes=3 << 20) + location(1000) + location(234))
    assert counted(line)[0] >= 1234
    assert counted(line)[2] >= 2
    assert re.search(r"3(\.\d)? MiB of trace", line)


@pytest.mark.parametrize("content", [
    b"", b"HYBRID\r\n", bytes(3 * PAGE), header(1, PAGE)[:100], header(0, 1 << 62) + location(1, size=0),
    header(0xFFFFFFFF, 1 << 63) + location(1, size=0xFFFFFFFF) * 3, header(5, 0), os.urandom(5 * PAGE),
    header(2, 9 * PAGE, major=9) + location(77), header(1, 4 * PAGE) + location(1, size=12345),
])
def test_damage_is_passed_over(harvest, content):
    sizes, line = harvest(content)
    assert sizes == [len(content)]
    assert "s wall" in line


BURN = r"""
#include <pthread.h>
static volatile unsigned long n;
static void *burn(void *arg)
{
	for (unsigned long i = 0; i < 200000000; i++)
		n++;
	return arg;
}
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, burn, 0);
	burn(0);
	return pthread_join(thread, 0);
}
"""


def test_what_was_taken_is_what_the_report_says(measure, compile_c):
    e = measure(compile_c(BURN))
    samples, processes, threads, _ = counted(e.stderr.splitlines()[1])
    assert (processes, threads) == (1, 2)
    ((taken, periods),) = re.findall(r"^samples +([\d,]+) taken(?:, standing for ([\d,]+) periods)?", run(HYBRID_REPORT, e.path).stdout, re.M)
    assert samples == int((periods or taken).replace(",", ""))
    # The tick delivers what was asked for: CPU time times rate, roughly.
    cpu = (int(e.values["user_ns"]) + int(e.values["system_ns"])) / 1e9
    rate = int(re.search(r"rate=(\d+)", e.values["options"]).group(1))
    assert 0.7 * cpu * rate - 5 <= samples <= 1.1 * cpu * rate + 5


def test_files_are_no_longer_than_their_chunks(measure):
    e = measure("sh", "-c", "true; true; exec true")
    assert len(e.files) >= 2  # sh and what it executes
    for file in e.files:
        claimed = struct.unpack_from("<Q", file.read_bytes(), 16)[0]
        assert file.stat().st_size == (claimed + PAGE - 1) // PAGE * PAGE


def test_processes_are_counted_once(measure):
    e = measure("sh", "-c", "/bin/true; /bin/true; exec /bin/true")
    assert counted(e.stderr.splitlines()[1])[1] == 3


def test_one_run_in_another(measure, tmp_path):
    e = measure(HYBRID_RUN, "-o", tmp_path / "inner", "sh", "-c", "exit 3")
    assert e.returncode == 3
    assert [path.name for path in (tmp_path / "inner").glob("*.hyb")]
    assert len(e.files) == 1  # hybrid-run itself
    assert "only its total time" not in e.stderr


def test_installed_tree_works_where_it_was_moved(tmp_path, needs):
    needs("meson")
    if not (BUILD / "build.ninja").exists():
        pytest.skip("not a build directory of meson")
    result = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path / "root")
    assert result.returncode == 0, result.stderr
    (tmp_path / "root").rename(tmp_path / "moved")
    (command,) = (tmp_path / "moved").rglob("bin/hybrid-run")
    result = run(command, "-o", tmp_path / "x", "--report", "true", cwd=tmp_path)
    assert result.returncode == 0
    assert list((tmp_path / "x").glob("*.hyb"))
    assert "call tree" in result.stderr
    assert list((tmp_path / "moved").rglob("man1/hybrid-run.1"))
    assert list((tmp_path / "moved").rglob("include/hybrid/hybrid.h"))

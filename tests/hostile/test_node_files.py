"""One file for the processes of a host: what one of them suffers is none of the others' business."""

import os
import re
import signal
import struct
import subprocess
import time

import pytest

from conftest import BUILD, HYBRID_RUN, report_json, run

PAGE = 4096
PROCESS = 6
SHARED = ["--files=node", "-q", "-r", "1000", "--source", "timer"]


def program(name):
    return BUILD / "tests/programs" / name


def launch(path, size, *command, options=(), **more):
    """All ranks of a launch at once, each under its own hybrid-run."""
    return [subprocess.Popen([HYBRID_RUN, *SHARED, *options, "-o", path, *map(str, command)],
                             env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": str(size)},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
            for rank in range(size)]


def ended(ranks):
    return [(*rank.communicate(timeout=60), rank.returncode) for rank in ranks]


def processes(path):
    """(number, pid, image, state) as the file has it."""
    data = path.read_bytes()
    (claimed,) = struct.unpack_from("<Q", data, 16)
    found, at = [], PAGE
    while at + 32 <= min(claimed, len(data)):
        magic, kind, process, size = struct.unpack_from("<IHHI", data, at)
        if magic == 0x4B4E4843 and kind == PROCESS:
            pid, _, image = struct.unpack_from("<III", data, at + 32 + 24)
            (state,) = struct.unpack_from("<I", data, at + 32 + 44)
            found.append((process, pid, image, state))
        at += size if magic == 0x4B4E4843 else PAGE
    return found


def check_whole(path):
    """Nothing is damaged; who was killed or found no room before it had a header is counted."""
    for text in report_json(path)["quality"]["damage_texts"]:
        assert re.search(r"\d+ of \d+ processes that began have left nothing", text)


def test_64_processes_in_one_file(tmp_path):
    path = tmp_path / "x"
    for out, err, status in ended(launch(path, 64, program("processes"), "children", 2)):
        assert (status, err) == (0, "")
    (file,) = path.glob("*.hyb")
    found = processes(file)
    numbers = sorted(number for number, *_ in found)
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 64 * 3
    assert len({pid for _, pid, *_ in found}) == len(numbers)
    report = report_json(path)
    assert report["quality"]["damage"] == 0, report["quality"]["damage_texts"]
    assert report["quality"]["processes"] == len(numbers)
    # Holes cost nothing.
    assert file.stat().st_blocks * 512 < len(numbers) * 200_000


def test_same_profile_as_in_files_of_their_own(tmp_path):
    """Counts of probes: they are exact."""
    def calls(files):
        path = tmp_path / files
        result = run(HYBRID_RUN, "-q", "-r", 0, f"--files={files}", "-o", path, program("processes"), "children", 5)
        assert result.returncode == 0
        report = report_json(path)
        assert report["quality"]["damage"] == 0
        return sorted((node.get("name"), node.get("calls")) for node in report["nodes"] if node.get("calls"))

    assert calls("node") == calls("process") != []


def test_images_are_numbered(tmp_path):
    path = tmp_path / "x"
    run(HYBRID_RUN, "-q", "--files=node", "-o", path, "sh", "-c", "/bin/true; exec sh -c 'exec /bin/true'")
    (file,) = path.glob("*.hyb")
    found = processes(file)
    by_pid = {}
    for _, pid, image, _ in found:
        by_pid.setdefault(pid, []).append(image)
    assert sorted(by_pid.values())[-1] == [0, 1, 2]


@pytest.mark.parametrize("seed", range(3))
def test_one_is_killed(tmp_path, seed):
    """Everything of the others is there, and what it had itself until then."""
    path = tmp_path / "x"
    ranks = launch(path, 4, program("processes"), "forever", start_new_session=True)
    for rank in ranks:
        assert rank.stdout.readline() == "running\n"
    time.sleep(0.1 + 0.1 * seed)
    os.killpg(ranks[1].pid, signal.SIGKILL)
    ranks[1].wait(20)
    time.sleep(0.2)
    for rank in ranks[::2] + ranks[3:]:
        os.killpg(rank.pid, signal.SIGTERM)
    ended(ranks)
    (file,) = path.glob("*.hyb")
    assert len(processes(file)) == 4
    report = report_json(path)
    assert report["quality"]["damage"] == 0, report["quality"]["damage_texts"]
    assert report["quality"]["processes"] == 4
    assert report["quality"]["samples"] > 0


def test_killed_while_they_begin(tmp_path):
    """At any instruction: the others go on, the file can be read."""
    path = tmp_path / "x"
    script = "while :; do /bin/true; done"
    with subprocess.Popen([HYBRID_RUN, *SHARED, "-o", path, "sh", "-c", f"{script} & {script} & {script}"],
                          start_new_session=True, stderr=subprocess.DEVNULL) as hybrid:
        time.sleep(0.5)
        os.killpg(hybrid.pid, signal.SIGKILL)
    (file,) = path.glob("*.hyb")
    check_whole(path)
    assert len(processes(file)) > 10
    assert not [name for name in os.listdir(path) if name.endswith(".new")] or len(processes(file)) == 0


@pytest.mark.parametrize("size", ["300k", "600k", "2m"])
def test_disk_full(small_disk, size):
    """Each says one line or none, nobody gets a SIGBUS, and what fitted can be read."""
    path = small_disk(f"size={size}") / "x"
    ranks = launch(path, 6, program("processes"), "children", 3, options=["--trace"])
    for out, err, status in ended(ranks):
        assert status in (0, 1), (status, err)  # 1: no room for what hybrid-run itself writes
        assert status == 0 or "make room" in err
        for line in err.splitlines():
            assert re.match("hybrid(-run)?: ", line)
    if list(path.glob("*.hyb")):
        check_whole(path)


def test_file_that_is_none_of_ours(tmp_path):
    """Of a later version, too short, no file at all: the process gets one of its own."""
    first = tmp_path / "first"
    run(HYBRID_RUN, "-q", "--files=node", "-o", first, "true")
    (file,) = first.glob("*.hyb")
    for content in (b"", b"HYBRID\r\n", bytes(PAGE), file.read_bytes()[:8] + b"\xff" * 8 + bytes(PAGE)):
        path = tmp_path / "x"
        path.mkdir(exist_ok=True)
        for old in path.iterdir():
            old.unlink()
        script = f"cp '{tmp_path / 'made'}' '{path / file.name}'; exec /bin/true"
        (tmp_path / "made").write_bytes(content)
        library = BUILD / "src/runtime/libhybrid.so"
        run("sh", "-c", script)
        result = run("/bin/true", env={"LD_PRELOAD": str(library), "HYBRID_DIR": str(path),
                                       "HYBRID_OPTIONS": "files=node"})
        assert (result.returncode, result.stderr) == (0, "")
        assert (path / file.name).read_bytes() == content
        assert len(list(path.glob("*.hyb"))) == 2


def test_ranks_that_are_many_share(tmp_path):
    """auto: as many as the launcher says are on this host."""
    for local, shared in ((31, False), (32, True)):
        path = tmp_path / str(local)
        result = run(HYBRID_RUN, "-q", "-o", path, "true",
                     env={**os.environ, "PMI_RANK": "0", "PMI_SIZE": "1", "MPI_LOCALNRANKS": str(local)})
        assert result.returncode == 0
        (file,) = path.glob("*.hyb")
        assert ("-node-" in file.name) == shared

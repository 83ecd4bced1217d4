"""hybrid-convert's formats of events, by readers that are not ours (protoc, speedscope's importer, the Firefox
Profiler), against the records that hybrid-dump shows and what hybrid-report says."""

import json
import os
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from conftest import HYBRID_CONVERT, HYBRID_DUMP, SOURCE, report_json, run

HERE = Path(__file__).resolve().parent
NPM = SOURCE / "build/npm/node_modules"
FIREFOX = NPM / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
FORMATS = ["perfetto", "chrome", "firefox"]
ODD, ODD_READ = r'odd \"name\"\\N \n\t\x01\xff\xc3\xa9 7', 'odd "name"\\N \n\t\x01\ufffd\xe9 7'

PROGRAM = r"""
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <signal.h>
static struct hybrid_region outer = HYBRID_REGION_INIT("outer", HYBRID_USER);
static struct hybrid_region odd = HYBRID_REGION_INIT("%s", HYBRID_LOOP);
static struct hybrid_counter items = HYBRID_COUNTER_INIT("items", "B");
static volatile double sum;
__attribute__((noinline)) static void deeper(void) { for (int i = 0; i < 60000; i++) sum += i; }
__attribute__((noinline)) static void middle(void) { deeper(); sum += 1; }
static void *work(void *data)
{
	for (int i = 0; i < 20; i++) {
		middle();
		hybrid_enter(&outer);
		for (int k = 0; k < 3; k++) {
			hybrid_enter(&odd);
			middle();
			hybrid_leave(&odd);
		}
		hybrid_count(&items, i);
		hybrid_leave(&outer);
	}
	hybrid_marker("done \"so\"");
	return data;
}
int main(int argc, char **argv)
{
	pthread_t thread[2];
	(void)argv;
	pthread_create(&thread[0], NULL, work, NULL);
	pthread_create(&thread[1], NULL, work, NULL);
	work(NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	if (argc > 1) {
		hybrid_enter(&outer);
		middle();
		raise(SIGKILL);
	}
	return 0;
}
""" % ODD
EXACT = ["--trace", "-r", "0", "--demote", "0:0"]
BOTH = ["--trace", "-r", "2000", "--demote", "0:0"]


@pytest.fixture(scope="module")
def program(compile_c):
    return compile_c(PROGRAM)


def convert(experiment, form, path, *options):
    result = run(HYBRID_CONVERT, experiment, "--to", form, "-o", path, *options)
    assert result.returncode == 0, result.stderr
    return result.stderr


def recorded(path):
    """The records, each probe's with its region's name as "name"."""
    result = run(HYBRID_DUMP, "--events", "--json", path, text=False)
    assert result.returncode == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.decode(errors="replace").splitlines()]
    for event in events:
        event["name"] = event.get("path", "").rpartition("/")[2]
    return events


class Slices:
    """What a reader found: slices (track, name, begin, end) in ns, and points in time; checked for nesting."""

    def __init__(self):
        self.slices, self.stacks, self.last = [], defaultdict(list), {}
        self.instants, self.counters, self.flows = [], defaultdict(list), defaultdict(list)
        self.names, self.places, self.callers, self.tracks = {}, {}, defaultdict(set), {}

    def at(self, track, time):
        assert time >= self.last.get(track, 0)
        self.last[track] = time

    def begin(self, track, name, time):
        self.at(track, time)
        self.callers[name].add(tuple(around for around, _ in self.stacks[track]))
        self.stacks[track].append((name, time))

    def end(self, track, time, name=None):
        self.at(track, time)
        began, start = self.stacks[track].pop()
        assert name in (None, began)
        self.slices.append((track, began, start, time))

    def finish(self):
        assert not any(self.stacks.values())
        return self

    def durations(self, name):
        return sorted(end - start for _, found, start, end in self.slices if found == name)

    def own(self):
        """ns by name without what is in slices within."""
        totals = Counter()
        for track in {one[0] for one in self.slices}:
            open_ = []
            for _, name, begin, end in sorted((one for one in self.slices if one[0] == track),
                                              key=lambda one: (one[2], -one[3])):
                while open_ and open_[-1][1] <= begin:
                    open_.pop()
                if open_:
                    totals[open_[-1][0]] -= end - begin
                totals[name] += end - begin
                open_.append((name, end))
        return totals

    def around(self, track, time):
        """Names of the slices that hold a moment, outermost first."""
        found = [one for one in self.slices if one[0] == track and one[2] <= time < one[3]]
        return [name for _, name, _, _ in sorted(found, key=lambda one: (one[2], -one[3]))]


# ---------------------------------------------------------------------------------------------- readers


def message(lines):
    """protoc's text as {field: [values]}."""
    fields = defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return fields
        if line.endswith("{"):
            fields[line[:-1].strip()].append(message(lines))
        else:
            key, _, value = line.partition(": ")
            assert not key.isdigit(), f"a field that is not in the schema: {line}"
            if value.startswith('"'):
                value = value[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
            fields[key].append(value)
    return fields


def read_perfetto(path):
    if not shutil.which("protoc"):
        pytest.skip("protoc is not installed")
    with open(path, "rb") as file:
        result = run("protoc", f"-I{HERE}", "--decode=Trace", HERE / "perfetto.proto", stdin=file)
    assert result.returncode == 0, result.stderr
    found, interned, defaults, tracks, last = Slices(), defaultdict(dict), {}, {}, defaultdict(int)
    for packet in message(iter(result.stdout.splitlines()))["packet"]:
        sequence, flags = packet["trusted_packet_sequence_id"][0], packet["sequence_flags"][0]
        assert len(packet["trace_packet_defaults"] + packet["track_descriptor"] + packet["track_event"]) == 1
        if flags == "1":
            interned[sequence] = {}
        assert flags == "1" or sequence in defaults
        for table in packet["interned_data"]:
            for kind, rows in table.items():
                for row in rows:
                    assert row["iid"][0] != "0" and (kind, row["iid"][0]) not in interned[sequence]
                    interned[sequence][kind, row["iid"][0]] = row
        for value in packet["trace_packet_defaults"]:
            defaults[sequence] = value["track_event_defaults"][0]["track_uuid"][0]
        for track in packet["track_descriptor"]:
            take_track(track, tracks)
        for event in packet["track_event"]:
            time = int(packet["timestamp"][0])
            if not event["flow_ids"] + event["terminating_flow_ids"]:  # those go to and fro
                assert time >= last[sequence]
                last[sequence] = time
            take_event(found, event, time, interned[sequence], tracks, (event["track_uuid"] or [defaults[sequence]])[0])
    found.tracks = tracks
    assert all([how for _, _, how in ends] == ["send", "receive"] for ends in found.flows.values())
    return found.finish()


def take_track(track, tracks):
    uuid, = track["uuid"]
    assert uuid not in tracks and uuid != "0"
    if track["process"]:
        assert not track["parent_uuid"] and not track["thread"]
    elif track["parent_uuid"]:
        above = tracks[track["parent_uuid"][0]]
        if track["thread"]:
            assert track["thread"][0]["pid"] == above["process"][0]["pid"]
        else:
            assert track["counter"]
    else:
        assert track["name"] == ["hybrid-convert"]  # notes
    tracks[uuid] = track


def take_event(found, event, time, interned, tracks, track):
    kind = event["type"][0]
    assert track in tracks and bool(tracks[track]["counter"]) == (kind == "COUNTER")
    for iid in event["category_iids"]:
        assert interned["event_categories", iid]
    for annotation in event["debug_annotations"]:
        assert interned["debug_annotation_names", annotation["name_iid"][0]] and annotation["int_value"]
    if kind == "COUNTER":
        value, = event["counter_value"] + event["double_counter_value"]
        found.counters[tracks[track]["name"][0]].append((track, time, float(value)))
    elif kind == "END":
        found.end(track, time)
    else:
        name = event["name"][0] if event["name"] else interned["event_names", event["name_iid"][0]]["name"][0]
        for iid in event["source_location_iid"]:
            found.places[name] = interned["source_locations", iid]
            assert found.places[name]["function_name"] == [name]
        if kind == "BEGIN":
            found.begin(track, name, time)
        else:
            assert kind == "INSTANT"
            found.instants.append((track, name, time))
        for flow in event["flow_ids"] + event["terminating_flow_ids"]:
            found.flows[flow].append((track, time, "send" if event["flow_ids"] else "receive"))


def nanoseconds(text):
    whole, _, part = text.partition(".")
    assert len(part) == 3
    return int(whole) * 1000 + int(part)


def read_chrome(path):
    found = Slices()
    trace = json.loads(path.read_bytes().decode("utf-8"), parse_float=nanoseconds)
    for event in trace["traceEvents"]:
        track, time = (event["pid"], event["tid"]), event.get("ts")
        if event["ph"] == "B":
            found.begin(track, event["name"], time)
        elif event["ph"] == "E":
            found.end(track, time, event["name"])
        elif event["ph"] == "C":
            found.counters[event["name"]].append((event.get("id"), time, event["args"]["value"]))
        elif event["ph"] == "i":
            found.instants.append((track, event["name"], time))
        elif event["ph"] in "sf":
            found.flows[event["id"]].append((track, time, "send" if event["ph"] == "s" else "receive"))
        else:
            assert event["ph"] == "M"
            found.names.setdefault(event["name"], {})[track] = event["args"]
    return found.finish()


READERS = {"perfetto": read_perfetto, "chrome": read_chrome}
SLACK = {"perfetto": 0, "chrome": 4}  # ns: what happens at one moment is drawn apart


def speedscope(path):
    """speedscope's importer fails on whatever is not in order."""
    if not shutil.which("node") or not (NPM / "speedscope-importer").exists():
        pytest.skip("speedscope's importer is not installed")
    result = run("node", HERE / "speedscope.js", NPM, path)
    assert result.returncode == 0, result.stderr
    totals, own = Counter(), Counter()
    for profile in json.loads(result.stdout)["profiles"]:
        assert profile["unit"] == "microseconds"
        for function in profile["functions"]:
            totals[function["name"]] += function["all"] * 1000
            own[function["name"]] += function["own"] * 1000
    return totals, own


class Firefox:
    """The Firefox Profiler with a file loaded; its server ends with the test."""

    def __init__(self, path, folder):
        if not shutil.which("node") or not FIREFOX.exists():
            pytest.skip("the Firefox Profiler's command is not installed")
        self.environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": str(folder), "PROFILER_CLI_NO_SYMBOLICATE": "1",
                            "HOME": str(folder)}
        self.command("load", path)

    def command(self, *words):
        return run("node", FIREFOX, *words, "--session", "it", env=self.environment)

    def ask(self, *words):
        for _ in range(100):  # the server may still be on its way
            result = self.command(*words, "--json")
            if result.returncode == 0:
                return json.loads(result.stdout)
            time.sleep(0.2)
        pytest.fail(result.stderr)

    def threads(self):
        info = self.ask("profile", "info", "--all")
        return [thread for process in info["processes"] for thread in process["threads"]]

    def functions(self):
        """ns of all and of their own by name, over all threads."""
        totals, own = Counter(), Counter()
        for thread in self.threads():
            found = self.ask("thread", "functions", "--thread", thread["threadHandle"], "--limit", "0",
                             "--include-idle")
            assert not found["functions"] or found["weightType"] == "tracing-ms"
            for function in found["functions"]:
                totals[function["name"]] += function["totalSamples"] * 1e6
                own[function["name"]] += function["selfSamples"] * 1e6
        return totals, own


@pytest.fixture
def firefox(tmp_path):
    opened = []

    def function(path):
        folder = tmp_path / f"firefox{len(opened)}"
        folder.mkdir()
        opened.append(Firefox(path, folder))
        return opened[-1]

    yield function
    for one in opened:
        one.command("stop")


# ------------------------------------------------------------------------------------------------ tests


def enters(events):
    return Counter(event["name"] for event in events if event["kind"] == "enter")


def instances(events):
    """Durations of all instances of probes by name, sorted."""
    found, stacks = defaultdict(list), defaultdict(list)
    for event in events:
        key = event["pid"], event["location"]
        if event["kind"] == "enter":
            stacks[key].append(event["time"])
        elif event["kind"] == "leave":
            found[event["name"]].append(event["time"] - stacks[key].pop())
    return {name: sorted(times) for name, times in found.items()}


def read_name(name):
    """What a name of hybrid-dump, which shows bytes in its own way, is called in a file."""
    return ODD_READ if name.startswith("odd") else name


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
@pytest.mark.parametrize("options", [EXACT, BOTH], ids=["exact", "both"])
def test_slices(measure, program, tmp_path, form, options):
    experiment = measure(program, options=options)
    events = recorded(experiment.path)
    said = convert(experiment.path, form, tmp_path / "out")
    assert not said
    found = READERS[form](tmp_path / "out")
    wanted = {read_name(name): times for name, times in instances(events).items()}
    assert sorted(map(len, wanted.values())) == [60, 180]
    for name, times in wanted.items():
        assert found.durations(name) == pytest.approx(times, abs=SLACK[form])
    assert sorted(name for _, name, _ in found.instants) == ['done "so"'] * 3
    assert Counter(value for _, _, value in found.counters["items"]) == {i: 3 for i in range(20)}
    assert len({track for track, *_ in found.slices}) == 3
    assert all("outer" in path for path in found.callers[ODD_READ])
    assert all(path[-1] == "middle" for path in found.callers["deeper"])
    if options is BOTH:
        assert found.durations("deeper")
    if form == "perfetto" and options is BOTH:
        assert found.places["deeper"]["file_name"][0].endswith(".c")
        assert int(found.places["deeper"]["line_number"][0]) > 0
        units = {track["name"][0]: track["counter"][0] for track in found.tracks.values() if track["counter"]}
        assert units["items"]["unit"] == ["SIZE_BYTES"]


def totals_of(report):
    """Inclusive ns of probes by name; none is below itself."""
    totals = Counter()
    for node in report["nodes"]:
        if node["kind"] == "probe":
            totals[read_name(node["name"])] += node["inclusive_ns"]
    return totals


def test_speedscope_of_chrome(measure, program, tmp_path):
    experiment = measure(program, options=EXACT)
    convert(experiment.path, "chrome", tmp_path / "out.json")
    totals, _ = speedscope(tmp_path / "out.json")
    for name, time in totals_of(experiment.report()).items():
        if name in ("outer", ODD_READ):
            assert totals[name] == pytest.approx(time, abs=1000)


RECURSION = """
static volatile double sum;
static void uneven(int n);
__attribute__((noinline)) static void even(int n)
{
	for (int i = 0; i < 20000; i++)
		sum += i;
	if (n)
		uneven(n - 1);
	sum += 1;
}
__attribute__((noinline)) static void uneven(int n)
{
	for (int i = 0; i < 20000; i++)
		sum += i;
	if (n)
		(n % 3 ? even : uneven)(n - 1);
	sum += 1;
}
int main(void)
{
	for (int i = 0; i < 300; i++)
		(i % 2 ? even : uneven)(i % 11);
	return 0;
}
"""


def test_speedscope_of_samples(measure, compile_c, tmp_path):
    """Functions that are left and entered at one moment: the importer must not mix them up."""
    experiment = measure(compile_c(RECURSION), options=["-r", "2000"])
    convert(experiment.path, "chrome", tmp_path / "out.json")
    found = read_chrome(tmp_path / "out.json")
    totals, own = speedscope(tmp_path / "out.json")
    assert totals["main"] == pytest.approx(sum(found.durations("main")), abs=1000)
    assert own["even"] + own["uneven"] == pytest.approx(
        sum(time for name, time in found.own().items() if name in ("even", "uneven")), rel=1e-6)


def test_firefox_of_probes(measure, program, tmp_path, firefox):
    experiment = measure(program, options=EXACT)
    convert(experiment.path, "firefox", tmp_path / "out.json")
    profiler = firefox(tmp_path / "out.json")
    assert len(profiler.threads()) == 3
    totals, _ = profiler.functions()
    wanted = totals_of(experiment.report())
    for name in ("outer", ODD_READ):
        assert totals[name] == pytest.approx(wanted[name], rel=1e-9, abs=1000)
    markers = profiler.ask("thread", "markers", "--thread", "t-0")
    assert {one["markerName"]: one["count"] for one in markers["byType"]} == {
        "outer": 20, ODD_READ: 60, 'done "so"': 1}
    assert len(profiler.ask("counter", "list")["counters"]) == 3


def test_firefox_of_samples(measure, program, tmp_path, firefox):
    experiment = measure(program, options=BOTH)
    convert(experiment.path, "firefox", tmp_path / "out.json")
    samples = sum(event["weight"] for event in recorded(experiment.path) if event["kind"] == "sample")
    profiler = firefox(tmp_path / "out.json")
    totals, own = profiler.functions()
    period = json.loads((tmp_path / "out.json").read_text())["meta"]["interval"] * 1e6
    assert sum(own.values()) == pytest.approx(samples * period, rel=1e-6)
    assert totals["deeper"] > sum(own.values()) / 2


def test_no_room_aside(measure, program, tmp_path):
    """Counters are put aside in a file of their own: what does not fit there is not left out in silence."""
    experiment = measure(program, options=EXACT)
    command = f"{HYBRID_CONVERT} {experiment.path} --to firefox -o -"
    result = run("sh", "-c", f"trap '' XFSZ; ulimit -f 1; {command}")
    assert result.returncode == 1 and "put aside" in result.stderr, result.stderr
    result = run("sh", "-c", command)
    assert result.returncode == 0 and len(json.loads(result.stdout)["counters"]) == 3


@pytest.mark.parametrize("form", FORMATS)
def test_killed(measure, program, tmp_path, form):
    experiment = measure(program, "killed", options=BOTH)
    convert(experiment.path, form, tmp_path / "out")
    if form == "firefox":
        assert json.loads((tmp_path / "out").read_text())["threads"]
        return
    found = READERS[form](tmp_path / "out")
    assert len(found.durations("outer")) == 61 and len(found.durations(ODD_READ)) == 180


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
def test_samples_alone(measure, program, tmp_path, form):
    experiment = measure(program, options=["-r", "2000"])
    convert(experiment.path, form, tmp_path / "out")
    found = READERS[form](tmp_path / "out")
    assert {"outer", ODD_READ, "middle", "deeper"} <= {name for _, name, _, _ in found.slices}


def clipped(slices, start, end):
    """Total ns by name in a window."""
    totals = Counter()
    for _, name, begin, until in slices:
        totals[name] += max(0, min(until, end) - max(begin, start))
    return +totals


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
def test_window(measure, program, tmp_path, form):
    experiment = measure(program, options=BOTH)
    convert(experiment.path, form, tmp_path / "all")
    everything = READERS[form](tmp_path / "all")
    last = max(end for _, _, _, end in everything.slices)
    start, end = last // 3, last * 2 // 3
    said = convert(experiment.path, form, tmp_path / "out", "--from", f"{start}ns", "--until", f"{end}ns")
    assert len(said.splitlines()) == 1 and "left out" in said
    assert not convert(experiment.path, form, tmp_path / "whole", "--until", "1000s")
    found = READERS[form](tmp_path / "out")
    assert all(start <= one[2] <= one[3] <= end for one in found.slices)
    wanted, got = clipped(everything.slices, start, end), clipped(found.slices, start, end)
    few = SLACK[form] * len(everything.slices)
    assert set(name for name in wanted if wanted[name] > few) <= set(got)
    assert all(got[name] == pytest.approx(wanted[name], abs=few) for name in got)
    assert all(start <= time < end for values in found.counters.values() for _, time, _ in values)


@pytest.mark.parametrize("form", FORMATS)
def test_one_thread(measure, program, tmp_path, form):
    experiment = measure(program, options=EXACT)
    nodes = run(HYBRID_DUMP, "--nodes", "--json", experiment.path, text=False).stdout.decode(errors="replace")
    records = [json.loads(line) for line in nodes.splitlines()]
    thread = [record["tid"] for record in records if record["record"] == "location"][-1]
    said = convert(experiment.path, form, tmp_path / "out", "--thread", thread)
    assert "2 of 3 threads are left out" in said
    if form != "firefox":
        found = READERS[form](tmp_path / "out")
        assert len(found.durations("outer")) == 20 and len({one[0] for one in found.slices}) == 1


def test_metrics(measure, program, tmp_path):
    experiment = measure(program, options=[*BOTH, "-m", "rusage::minor_faults,memory::resident"])
    if experiment.returncode:
        pytest.skip("this build measures no metrics")
    convert(experiment.path, "perfetto", tmp_path / "out")
    found = read_perfetto(tmp_path / "out")
    faults = found.counters["rusage::minor_faults"]
    assert faults and all(value >= 0 for _, _, value in faults)
    for track in {track for track, _, _ in faults}:
        own = [value for one, _, value in faults if one == track]
        assert own == sorted(set(own))  # told where it changed, and it only grows
    assert found.counters["memory::resident"]
    convert(experiment.path, "perfetto", tmp_path / "rates", "--counters", "rate")
    assert read_perfetto(tmp_path / "rates").counters["rusage::minor_faults rate"]


MESSAGES = """
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, size, got;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++) {
		if (rank == 0)
			MPI_Send(&i, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
		else if (rank == 1)
			MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
"""


@pytest.mark.parametrize("form", ["perfetto", "chrome"])
def test_messages(mpi, ranks, tmp_path, form):
    experiment = ranks(2, mpi.compile(MESSAGES), options=["--trace", "-r", "1000"])
    assert experiment.returncode == 0, experiment.stderr
    convert(experiment.path, form, tmp_path / "out")
    found = READERS[form](tmp_path / "out")
    assert len(found.flows) == 10
    for ends in found.flows.values():
        (sender, sent, how), (receiver, received, then) = ends
        assert (how, then) == ("send", "receive") and sender != receiver and sent <= received
        assert "MPI_Send" in found.around(sender, sent)
        assert "MPI_Recv" in found.around(receiver, received)
    said = convert(experiment.path, form, tmp_path / "one", "--ranks", "0")
    assert "10 messages" in said and not READERS[form](tmp_path / "one").flows


@pytest.mark.parametrize("form", FORMATS)
def test_no_contexts(measure, program, tmp_path, form):
    experiment = measure(program, options=BOTH)
    result = run(HYBRID_CONVERT, experiment.path, "--to", form, "-o", tmp_path / "out", "--samples", "context")
    assert result.returncode == 1 and "enter-leave" in result.stderr and not (tmp_path / "out").exists()

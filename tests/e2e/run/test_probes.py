"""Probes: exact counts and names, wrong use, Fortran, C++, compiler hooks, demotion."""

import os
import re

import pytest

from conftest import SOURCE, run
from known import MODES, calls, check_sums, find, names, native, program, same_as_native, samples_below, the, walk

NO_FAULTS = {"not_entered": 0, "not_left": 0, "too_deep": 0, "nested": 0, "no_space": 0, "too_many": 0}


@pytest.fixture
def probes(measure):
    """Runs a case of the program `probes`; its output must be the native one."""

    def function(*arguments, options=()):
        return same_as_native(measure, options, "probes", *arguments)

    return function


def absent(tree, *unwanted):
    return not any(node["name"] in unwanted for _, node in walk(tree))


def faults(**expected):
    return {**NO_FAULTS, **expected}


@pytest.mark.parametrize("mode", MODES)
def test_nesting(probes, mode):
    report = probes("good", options=MODES[mode]).report()
    outer = the(report["tree"], "outer")
    inner = the(report["tree"], "inner")
    assert (outer["calls"], inner["calls"]) == (10, 1000)
    assert inner in outer["children"]
    assert inner["inclusive_ns"] <= outer["inclusive_ns"]
    assert report["quality"]["faults"] == NO_FAULTS
    assert report["quality"]["probe_calls"] == 1010
    assert outer["file"].endswith("probes.c") and outer["line"] > 0
    check_sums(report["tree"])


def test_wrong_nesting(probes):
    report = probes("wrong").report()
    assert report["quality"]["faults"] == faults(not_entered=100, not_left=100)
    assert (calls(report["tree"], "outer"), calls(report["tree"], "inner")) == (100, 100)
    assert the(report["tree"], "inner") in the(report["tree"], "outer")["children"]


def test_leaving_what_was_not_entered(probes):
    report = probes("not_entered").report()
    assert report["quality"]["faults"] == faults(not_entered=101)
    assert calls(report["tree"], "outer") == 1
    assert not find(report["tree"], "nobody")


def test_never_left(probes):
    report = probes("never_left").report()
    assert calls(report["tree"], "outer") == 1 and calls(report["tree"], "inner") == 1
    assert report["quality"]["faults"]["not_entered"] == 0
    check_sums(report["tree"])


def test_many_names(probes):
    """65535 names are kept; all later calls are in "(other names)", entered and left as they were."""
    report = probes("many_names", "300000").report()
    quality = report["quality"]
    assert quality["regions_lost"] > 0
    assert calls(report["tree"], "name-0") == 1 and calls(report["tree"], "name-60000") == 1
    other = find(report["tree"], "(other names)")
    kept = [node for _, node in walk(report["tree"]) if node["name"].startswith("name-")]
    assert 65000 <= len(kept) <= 65535
    assert sum(node["calls"] for node in other) + len(kept) == 300000
    nested = len(other)
    assert nested == 1, "others were not left"
    assert quality["faults"] == NO_FAULTS and quality["open_regions"] == 0


@pytest.mark.skipif(not os.environ.get("HYBRID_SLOW"), reason="takes half a minute: set HYBRID_SLOW=1")
def test_ten_million_names(probes):
    report = probes("many_names", "10000000").report("--depth", "2")
    other = find(report["tree"], "(other names)")
    assert sum(node["calls"] for node in other) >= 10000000 - 65535
    assert report["quality"]["faults"] == NO_FAULTS


def test_long_names(probes):
    report = probes("long_names").report()
    long = sorted({node["name"] for _, node in walk(report["tree"]) if node["name"].startswith("xxx")})
    assert len(long) == 2, "different names stay different"
    assert all(calls(report["tree"], name) == 10 for name in long)
    assert all(len(name) <= 1023 for name in long)
    assert calls(report["tree"], "y" * 1023) == 1
    assert report["quality"]["names_cut"] == 2
    assert report["quality"]["faults"] == NO_FAULTS


def test_odd_names(probes):
    report = probes("odd_names").report()
    regions = [node["name"] for _, node in walk(report["tree"]) if node["calls"] == 1]
    assert len(regions) == 8
    for name in ("a\nb", '"quoted"\\', "été", "<tag>&", "%s%n", " "):
        assert name in regions
    assert report["quality"]["faults"] == NO_FAULTS


@pytest.mark.parametrize("depth, skipped", [(2000, 0), (5000, 5000 - 2327)])
def test_deep_nesting(probes, depth, skipped):
    """Below the 2328th open region, the thread's root among them, enters are only counted."""
    report = probes("deep", depth).report()
    assert report["quality"]["probe_calls"] == depth + 1010
    assert abs(report["quality"]["faults"]["too_deep"] - skipped) <= 1
    assert report["quality"]["faults"]["not_entered"] == 0 and report["quality"]["faults"]["not_left"] == 0
    # What came after it is as if it had not been.
    top = [node for node in report["tree"]["children"] if node["name"] == "outer"]
    assert sum(node["calls"] for node in top) == 11
    check_sums(report["tree"])


@pytest.mark.parametrize("mode", ["perf", "timer"])
def test_entered_and_left_in_different_functions(probes, mode):
    report = probes("split", options=MODES[mode]).report("--functions")
    step = the(report["tree"], "step")
    assert step["calls"] == 100
    below = samples_below(step)
    assert below >= 0.95 * report["quality"]["samples"] >= 100
    inside = sum(samples_below(node) for node in find(step, "work_between")[:1])
    assert inside >= 0.9 * below
    # begin_step() has returned; its callers are above the region, not below.
    assert absent(step, "begin_step", "main", "_start")


def test_parameters(probes):
    report = probes("parameters").report()
    outer = the(report["tree"], "outer")
    values = {node["name"]: node for node in outer["children"]}
    assert {f"size={i}" for i in range(3)} <= set(values)
    for i in range(3):
        kinds = {n["name"]: n["calls"] for _, n in walk(values[f"size={i}"])}
        assert kinds["inner"] == 4 and kinds["kind=odd"] == 2 and kinds["kind=even"] == 2
    assert report["quality"]["faults"] == NO_FAULTS
    check_sums(report["tree"])


def test_another_value_of_a_parameter(probes):
    report = probes("parameter_again", options=["--rate", "1000"]).report()
    outer = the(report["tree"], "outer")
    own = [node for node in outer["children"] if node["kind"] == "probe"]
    assert {node["name"]: node["calls"] for node in own} == {f"again={i}": 10 for i in range(3)}
    for value in own:
        assert {n["name"]: n["calls"] for _, n in walk(value) if n["kind"] == "probe"} == {
            value["name"]: 10, "other=odd": 5, "other=even": 5}
        # The work is not inside of what called the parameter, and is there with all its frames.
        work = sum(samples_below(node) for node in find(value, "work_between"))
        assert work >= 0.9 * samples_below(value) - 1 and samples_below(value) > 0
    assert report["quality"]["faults"] == NO_FAULTS
    check_sums(report["tree"])


def test_parameters_are_never_demoted(probes):
    report = probes("parameter_often", options=["--demote", "1000:1000"]).report()
    outer = the(report["tree"], "outer")
    assert (outer["calls"], outer["skipped"]) == (12000, 0)
    assert [(node["calls"], node["skipped"]) for node in outer["children"] if node["kind"] == "probe"] == [(12000, 0)]
    assert report["quality"]["faults"] == NO_FAULTS


def test_counters_and_markers(probes, measure):
    e = probes("counters")
    text = e.dump()
    for value in [i * ((2**63 - 1) // 3) for i in range(-3, 4)] + [-(2**63)]:
        assert re.search(rf"(?<![-\d]){value}\b", text), value
    for word in ("whole", "items", "real", "-1.5", "tick", "tock"):
        assert word in text, word


def test_pause(probes):
    report = probes("pause", options=["--rate", "1000", "--source", "timer"]).report()
    assert calls(report["tree"], "outer") == 2 and calls(report["tree"], "inner") == 2
    assert not find(report["tree"], "never")
    paused = find(report["tree"], "(paused)")
    assert sum(node["calls"] for node in paused) == 1
    assert sum(node["inclusive_ns"] for node in paused) >= 90_000_000
    assert sum(samples_below(node) for node in paused) == 0
    assert report["quality"]["faults"] == NO_FAULTS


def test_metadata(probes):
    text = probes("metadata").dump()
    for word in ("input", "wing.dat", "body.dat", "cells", "100000"):
        assert word in text


def test_thread_names(probes):
    tree = probes("thread_names").report("--by-thread")["tree"]
    top = " ".join(node["name"] for node in tree["children"])
    for name in ("boss", "worker one", "worker two", "n" * 63):
        assert name in top
    assert "n" * 64 not in top


def test_probes_in_handlers(probes):
    report = probes("handler", options=["--rate", "1000", "--source", "timer"]).report()
    quality = report["quality"]
    assert quality["faults"]["not_entered"] == 0 and quality["faults"]["not_left"] == 0
    assert calls(report["tree"], "in handler") > 0
    check_sums(report["tree"])


def test_longjmp_over_regions(probes):
    report = probes("jump").report()
    assert calls(report["tree"], "outer") == 100
    assert calls(report["tree"], "inner") == 500
    assert report["quality"]["faults"] == faults(not_left=500)


def test_nothing_else_changes(probes):
    probes("pure", options=["--trace", "--rate", "1000"])


def test_knows_that_it_is_measured(measure):
    assert native("probes", "nothing").stdout == "measured 0\n"
    assert measure(program("probes"), "nothing").stdout == "measured 1\n"


def test_demotion(probes):
    """20 million calls for nothing: all counted, most of them not timed, and the report says so."""
    report = probes("often", "20000000").report()
    tiny = the(report["tree"], "tiny")
    assert tiny["calls"] == 20000000
    assert tiny["skipped"] >= 19000000
    assert report["quality"]["demoted_nodes"] == 1
    assert report["quality"]["skipped_calls"] == tiny["skipped"]
    assert calls(report["tree"], "outer") == 1
    assert report["quality"]["faults"] == NO_FAULTS


def test_no_demotion(probes):
    report = probes("often", "500000", options=["--demote", "0"]).report()
    assert the(report["tree"], "tiny")["calls"] == 500000
    assert report["quality"]["demoted_nodes"] == 0 and report["quality"]["skipped_calls"] == 0


def test_demotion_threshold(probes):
    report = probes("often", "500000", options=["--demote", "1000:1000000"]).report()
    assert the(report["tree"], "tiny")["skipped"] >= 490000


def test_trace_of_regions(probes):
    e = probes("good", options=["--trace", "--rate", "0"])
    assert e.report("--quality")["quality"]["trace_events"] == 2 * 1010


def test_scopes(measure):
    e = same_as_native(measure, [], "scopes")
    assert e.stdout == "caught 100\n"
    report = e.report()
    for name in ("first", "attempt", "second", "third"):
        assert the(report["tree"], name)["calls"] == 200, name
    assert names_above(report["tree"], "third")[-4:] == ["first", "attempt", "second", "third"]
    assert report["quality"]["faults"] == NO_FAULTS


def names_above(tree, name):
    return next(names(path) for path, node in walk(tree) if node["name"] == name)


def functions_run(measure, tmp_path, *rules):
    options = ["-q"]
    if rules:
        (tmp_path / "filter").write_text("".join(rule + "\n" for rule in rules))
        options += ["--filter", tmp_path / "filter"]
    e = measure(program("functions"), options=options)
    assert e.stdout == "1\n"
    return {
        node["name"]: node["calls"]
        for _, node in walk(e.report("--functions")["tree"])
        if node["kind"] == "probe" and node["calls"]
    }


def test_compiler_hooks(measure, tmp_path):
    found = functions_run(measure, tmp_path)
    assert found["middle_function"] == 10 and found["leaf_function"] == 1000 and found["other_function"] == 10
    assert "hidden_function" not in found
    assert found["main"] == 1


@pytest.mark.parametrize(
    "rules, kept",
    [
        (["exclude leaf_function"], {"main", "middle_function", "other_function"}),
        (["exclude *", "include m*"], {"main", "middle_function"}),
        (["exclude *_function", "include leaf*"], {"main", "leaf_function"}),
        (["exclude *"], set()),
    ],
)
def test_filter(measure, tmp_path, rules, kept):
    assert set(functions_run(measure, tmp_path, *rules)) == kept


@pytest.mark.parametrize("name", ["regions_O0", "regions_O2"])
def test_fortran(measure, name):
    e = same_as_native(measure, ["--rate", "1000", "--source", "timer"], name)
    assert e.stdout == "PASS\n"
    report = e.report()
    step = the(report["tree"], "step")
    assert step["calls"] == 10 and step["line"] > 0 and step["file"].endswith("regions.f90")
    assert calls(report["tree"], "round") == 50
    assert sorted(node["name"] for node in step["children"] if node["kind"] == "probe") == ["parity=0", "parity=1"]
    assert calls(report["tree"], "typed") == 1 and calls(report["tree"], "name=value") == 1
    assert sum(node["calls"] for node in find(report["tree"], "(paused)")) == 1
    assert report["quality"]["faults"] == NO_FAULTS
    below = sum(samples_below(node) for node in find(report["tree"], "round"))
    assert below >= 0.8 * report["quality"]["samples"] > 0
    text = e.dump()
    for word in ("solver", "jacobi", "residual", "m/s", "half"):
        assert word in text
    assert "fortran main" in " ".join(n["name"] for n in e.report("--by-thread")["tree"]["children"])


@pytest.mark.parametrize("name", ["regions_O0", "regions_O2"])
def test_fortran_samples_hang_below_their_regions(measure, name):
    """The probe is entered through a frame of the module, which is gone when samples come."""
    tree = measure(program(name), options=["-q", "--rate", "2000", "--source", "timer"]).report("--functions")["tree"]
    for region in find(tree, "round"):
        assert absent(region, "main", "MAIN__", "_start")


@pytest.mark.parametrize("name", ["blocked_plain", "blocked"])
def test_path_below_a_region_does_not_repeat_what_is_above(measure, name):
    """Without optimisation hybrid_enter() has a frame of its own, which is gone when samples come."""
    report = measure(program(name), 200, options=["-q", "--rate", "1000", "--source", "timer"]).report("--functions")
    for region in ("computes", "mixed"):
        node = the(report["tree"], region)
        assert samples_below(node) > 50
        assert absent(node, "main", "_start")


def test_fortran_example(measure, needs, tmp_path):
    needs("gfortran")
    built = run("gfortran", "-O2", "-g", SOURCE / "include/hybrid/hybrid.f90", SOURCE / "examples/heat/heat.f90",
        "-o", tmp_path / "heat", cwd=tmp_path) # fmt: skip
    assert built.returncode == 0, built.stderr
    alone = run(tmp_path / "heat")
    e = measure(tmp_path / "heat", options=["-q", "--rate", "1000", "--source", "timer"])
    assert (e.stdout, e.stderr, e.returncode) == (alone.stdout, "", 0)
    report = e.report()
    assert the(report["tree"], "sweep")["calls"] == 400
    assert the(report["tree"], "residual")["calls"] == 40
    assert the(report["tree"], "residual") in the(report["tree"], "sweep")["children"]


COST = r"""
#include <hybrid/hybrid.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int f(int x) { return x + 1; }
__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
        static struct hybrid_region region = HYBRID_REGION_INIT("region", HYBRID_USER);
        volatile int x = 0;
        if (argc > 2 && !fork())
                argc = 2;
        else if (argc > 2)
                return wait(NULL) < 0;
        for (int i = 0; i < 200000; i++) {
                if (*argv[1] == 'r') {
                        hybrid_enter(&region);
                        hybrid_leave(&region);
                } else {
                        x = f(x);
                }
        }
        return 0;
}
"""


@pytest.mark.parametrize("kind,part,options,flags", [
    ("region", "probes_ns", ["--demote=0"], []),
    ("region", "skipped_ns", ["--demote=1000:1000000"], []),
    ("function", "probes_ns", ["--demote=0"], ["-finstrument-functions"]),
    ("function", "skipped_ns", ["--demote=1000:1000000"], ["-finstrument-functions"]),
    ("function", "left_out_ns", ["--filter"], ["-finstrument-functions"]),
])
@pytest.mark.parametrize("forked", [[], ["forked"]])
def test_all_calls_cost(measure, compile_c, tmp_path, kind, part, options, flags, forked):
    """Also those that are only counted, or left out, and those of a forked child."""
    if options == ["--filter"]:
        (tmp_path / "filter").write_text("exclude *\n")
        options = ["--filter", tmp_path / "filter"]
    e = measure(compile_c(COST, *flags), kind, *forked, options=["-q", "-r", "0", *options])
    quality = e.report("--quality")["quality"]
    assert 200000 * 1 <= quality["cost"][part] <= 200000 * 1000  # ns a call
    assert quality["cost_ns"] == sum(quality["cost"].values())

"""What stands for a function is the same in all views, however many programs took part and however short they were."""

import shutil

import pytest

SCRIPT = """
i=0
while [ $i -lt 40 ]; do
	echo "abc $i def" | sed 's/abc/x/' | awk '{ for (k = 0; k < 20000; k++) s += k; print s }' | sort > sorted
	seq 3000 | sort -n | tail -1 > last
	i=$((i+1))
done
"""

MAKEFILE = """
all: $(addprefix made, 1 2 3 4 5 6 7 8)
made%:
	@awk 'BEGIN { for (k = 0; k < 40000; k++) s += k; print s }' > $@
	@seq 20000 | sort -r | md5sum >> $@
"""


def by_function(report):
    """(name, module of a frame) -> ns; what has no function is the views' own row, and counts as one."""
    sums = {}
    for node in report["nodes"]:
        top = node["parent"] is None or (node["parent"] == 0 and node["kind"] == "probe" and node["module"].endswith(".hyb"))
        key = "" if top else (node["name"], node["module"])
        sums[key] = sums.get(key, 0) + node["exclusive_ns"]
    return sums


def flat(report):
    sums = {}
    for row in report["rows"]:
        sums[row["name"]] = sums.get(row["name"], 0) + row["exclusive_ns"]
    return sums


@pytest.mark.parametrize("command", [["sh", "script"], ["make", "-j2"]], ids=["shell", "make"])
def test_several_programs(measure, tmp_path, command):
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    (tmp_path / "script").write_text(SCRIPT)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    e = measure(*command, options=["-q"])
    assert e.returncode == 0, e.stderr
    report = e.report("--functions")
    tree = by_function(report)
    programs = {node["name"].split()[0] for node in e.report("--by-thread")["tree"]["children"]}
    assert len(programs) >= 5 and report["quality"]["samples"] >= 10
    for view in "--by-thread", "--by-rank":
        found = by_function(e.report("--functions", view))
        # Shares are whole nanoseconds: each of many nodes is rounded.
        assert sum(found.values()) == sum(tree.values())
        assert sum(abs(found.get(key, 0) - tree.get(key, 0)) for key in found | tree) <= 10000
    rows = flat(e.report("--flat"))
    for name in {key[0] for key in tree if key}:
        assert abs(rows.get(name, 0) - sum(ns for key, ns in tree.items() if key and key[0] == name)) <= 1000, name

"""What hybrid-report prints for machines, read by parsers that are not ours."""

import csv
import io
import json

from conftest import HYBRID_REPORT, path_of, run

NAMES = r"""
#include <hybrid/hybrid.h>

static void nest(int depth)
{
	HYBRID_ENTER("nested");
	if (depth)
		nest(depth - 1);
	HYBRID_LEAVE("nested");
}

int main(void)
{
	HYBRID_ENTER("a\"b,c;\nd\\");
	HYBRID_ENTER("\001\033[1m\177");
	HYBRID_ENTER("\377\300\257 \303\251");
	nest(1500);
	HYBRID_LEAVE("\377\300\257 \303\251");
	HYBRID_LEAVE("\001\033[1m\177");
	HYBRID_LEAVE("a\"b,c;\nd\\");
	return 0;
}
"""
EXPECTED = ["[total]", 'a"b,c;\nd\\', "\1\x1b[1m\x7f", "\ufffd\ufffd\ufffd é", "nested"]


def printed(*options):
    result = run(HYBRID_REPORT, *options, text=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.decode("utf-8")  # strictly


def programs(nodes):
    """Without those that are named by us."""
    return [node for node in nodes if node["name"] not in ("[before-measurement]", "[measurement-start]")]


def test_names_of_any_bytes(measure, compile_c):
    e = measure(compile_c(NAMES), options=["-q", "--rate", "0"])
    every = json.loads(printed("--json", e.path))["nodes"]
    nodes = programs(every)
    assert [node["name"] for node in nodes[:5]] == EXPECTED
    assert [node["name"] for node in path_of(every, nodes[4]["id"])] == EXPECTED
    assert len(nodes) > 1500 and [node["depth"] for node in nodes] == list(range(len(nodes)))
    assert {row["name"] for row in json.loads(printed("--json", "--flat", e.path))["rows"]} >= set(EXPECTED[1:])
    reverse = json.loads(printed("--json", "--reverse", e.path))["nodes"]
    assert {node["name"] for node in programs(reverse)} == {*EXPECTED, "[outside all probes]"}
    changed = programs(json.loads(printed("--json", "--diff", e.path, e.path))["nodes"])
    assert [node["name"] for node in changed[:5]] == EXPECTED and changed[1]["before"] == changed[1]["after"]


def test_csv_of_any_names(measure, compile_c):
    e = measure(compile_c(NAMES), options=["-q", "--rate", "0"])
    csv.field_size_limit(1 << 20)
    for view in ["--tree", "--reverse", "--flat"]:
        rows = list(csv.DictReader(io.StringIO(printed("--csv", view, e.path), newline="")))
        assert {row["name"] for row in rows} >= set(EXPECTED[1:])
        assert all(None not in row and None not in row.values() for row in rows)

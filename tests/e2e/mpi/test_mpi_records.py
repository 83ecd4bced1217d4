"""Every message a record: what programs of known traffic tell of themselves, against the trace."""

import re

import pytest

MESSAGES = ["blocking", "wildcards", "probes", "nothing", "types", "exchange", "ranks", "inter"]
REQUESTS = ["wait", "waitall", "waitsome", "waitany", "test", "testmany", "getstatus", "cancel", "persistent",
            "partitioned", "many"]
COLLECTIVES = ["rooted", "all", "vectors", "nonblocking", "neighbours"]
ONESIDED = ["fence", "locks", "groups", "requests", "files"]


@pytest.mark.parametrize("scenario", MESSAGES)
def test_messages(mpi, ranks, scenario):
    run = ranks(4, mpi.compile("messages.c"), scenario, options=["--trace"])
    run.same_as_truth(4)


@pytest.mark.parametrize("scenario", REQUESTS)
def test_requests(mpi, ranks, scenario):
    if scenario == "partitioned" and mpi.name == "openmpi":
        pytest.skip("Open MPI 4 has no partitioned communication")
    run = ranks(2, mpi.compile("requests.c", "-Wno-stringop-overflow"), scenario, options=["--trace"])
    run.same_as_truth(2)


@pytest.mark.parametrize("scenario", COLLECTIVES)
def test_collectives(mpi, ranks, scenario):
    run = ranks(3, mpi.compile("collectives.c"), scenario, options=["--trace"])
    run.same_as_truth(3)
    joined = {(call.function, event["operation"]) for call in run.calls() for event in call.records if event.get("message") == "collective"}
    assert joined
    for function, operation in joined:  # a persistent one's is nowhere else
        assert operation != "unknown" and re.fullmatch(f"MPI_I?{operation}|MPI_Start(all)?", function, re.I), joined


@pytest.mark.parametrize("scenario", ONESIDED)
def test_one_sided_and_files(mpi, ranks, tmp_path, scenario):
    run = ranks(3, mpi.compile("onesided.c"), scenario, options=["--trace"], env={"FILE_NAME": tmp_path / "file"})
    run.same_as_truth(3)

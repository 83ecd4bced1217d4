"""Every message a record: what programs of known traffic tell of themselves, against the trace."""

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


@pytest.mark.parametrize("scenario", ONESIDED)
def test_one_sided_and_files(mpi, ranks, tmp_path, scenario):
    run = ranks(3, mpi.compile("onesided.c"), scenario, options=["--trace"], env={"FILE_NAME": tmp_path / "file"})
    run.same_as_truth(3)

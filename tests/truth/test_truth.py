"""The short part of tests/truth: some programs of known loads once each, and what chance.py says of known numbers.

The tests of a run fail by chance less than once in 100,000 runs of all of them; a bias such as that of a timer that rides on the
kernel's tick (fa 68 to 77 % where 50 % is true) they miss once in a hundred runs."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import chance
import compare
from programs import PROGRAMS

# Seconds of CPU time; several run at once, which changes no share.
SHORT = {"known example": 2, "two threads": 1.5, "burst 0.5, 4 ms": 3.5, "itimer": 1.5, "cpu at tick": 1.2, "pipes": 4,
         "three consumers": 2.2}
# Threads and processes of which most are too short for a sample of their own: no matter what is true, the views agree.
FEW = {"short children": 0.5, "eight threads": 0.25, "fork tree": 0.25, "OpenMP, 8": 0.25, "Python threads": 0.25, "short threads": 0.25}
RARE = 1e-6  # for each of the tests below


@pytest.fixture(scope="module")
def runs():
    """name -> what compare.measured says."""
    with ThreadPoolExecutor(2) as pool:
        wanted = SHORT | FEW
        jobs = {p.name: pool.submit(compare.measured, p, wanted[p.name]) for p in PROGRAMS if p.name in wanted}
        return {name: job.result() for name, job in jobs.items()}


def chance_of(run):
    return chance.compare(run["true"], run["shares"], run["samples"])


@pytest.mark.parametrize("name", SHORT)
def test_shares(runs, name):
    run = runs[name]
    assert run["samples"] >= 100
    assert chance_of(run).probability >= RARE, (run["true"], run["shares"], run["samples"])


def test_shares_of_all(runs):
    whole = sum((chance_of(runs[name]) for name in SHORT), chance.Chance())
    assert whole.freedom >= len(SHORT)
    assert whole.probability >= RARE, whole


@pytest.mark.parametrize("name", SHORT)
def test_sums(runs, name):
    run = runs[name]
    true, reported = run["cpu"]
    assert abs(reported - true) <= 0.02 * true
    assert run["threads"][0] <= 0.02 * run["threads"][1]


@pytest.mark.parametrize("name", SHORT | FEW)
def test_views(runs, name):
    run = runs[name]
    assert run["by_thread"].keys() == run["shares"].keys() and run["flat"].keys() == run["inclusive"].keys()
    assert compare.views(run) <= 0.001, run


@pytest.mark.parametrize("chi2, freedom, probability", [
    (3.841459, 1, 0.05), (10.827566, 1, 0.001), (5.991465, 2, 0.05), (18.307038, 10, 0.05), (29.588298, 10, 0.001),
    (124.342113, 100, 0.05), (23.92812698, 1, 1e-6), (0, 3, 1), (9.488, 0, 1)])
def test_survival(chi2, freedom, probability):
    """Tables of chi-squared."""
    assert chance.survival(chi2, freedom) == pytest.approx(probability, rel=1e-4)


def test_chance_is_called_chance():
    """Samples drawn by the true shares: as many of the probabilities are small as should be."""
    draw = random.Random(1)
    true = {"fa": 0.5, "fb": 0.3, "fc": 0.2}
    found = []
    for _ in range(2000):
        hits = draw.choices(list(true), list(true.values()), k=250)
        found.append(chance.compare(true, {name: hits.count(name) / 250 for name in true}, 250).probability)
    assert 0.035 <= sum(p < 0.05 for p in found) / len(found) <= 0.065
    assert 0.45 <= sum(p < 0.5 for p in found) / len(found) <= 0.55


def test_bias_is_not_called_chance():
    true = {"fa": 0.5, "fb": 0.5}
    assert chance.compare(true, {"fa": 0.69, "fb": 0.31}, 250).probability < RARE
    assert chance.compare(true, {"fa": 0.5, "fb": 0.5}, 250).probability == 1
    assert chance.compare(true, {}, 250).probability < RARE


def test_rare_functions_are_put_together():
    """Chi-squared says too much of who expects a sample or two."""
    c = chance.compare({"fa": 0.989, "fb": 0.01, "fc": 0.001}, {"fa": 0.97, "fb": 0.01, "fc": 0.02}, 100)
    assert c.freedom == 0 and c.probability == 1
    assert chance.compare({"fa": 0.95, "fb": 0.04, "fc": 0.01}, {"fa": 0.96, "fb": 0.04}, 100).freedom == 1

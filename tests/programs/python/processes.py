"""multiprocessing, by each method of starting, and os.fork."""

import multiprocessing
import os

from work import N, run, spin


def part_child(method):
    """child_fork spin | child_spawn spin | child_forkserver spin"""
    globals()["child_" + method]()  #:


def child_fork():
    spin(N)  #:


def child_spawn():
    spin(N)  #:


def child_forkserver():
    spin(N)  #:


def part_pooled(n):
    """spin"""
    spin(n)  #:


def part_processes():
    for method in ("fork", "spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=part_child, args=(method,))
        process.start()
        process.join()


def part_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(part_pooled, 4 * [N // 4])


def forked():
    spin(N)  #:


def part_fork():
    """forked spin | _after_fork ... | seed ..."""
    child = os.fork()  #:
    if not child:
        forked()  #:
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    run(part_processes, part_pool, part_fork)

"""Threads and what else runs beside the main flow of a program."""

import concurrent.futures
import queue
import sys
import threading

from work import N, run, spin


def part_thread_one(n):
    """..."""
    x = 0
    for i in range(n):  #:
        x += i * i  #:


def part_thread_two(n):
    """inner"""

    def inner():
        x = 0
        for i in range(n):  #:
            x += i * i  #:

    inner()  #:


class Own(threading.Thread):
    def run(self):
        part_thread_run()


def part_thread_run():
    """spin"""
    spin(N)  #:


def part_threads():
    """..."""
    threads = [
        threading.Thread(target=part_thread_one, args=(2 * N,)),
        threading.Thread(target=part_thread_two, args=(N,)),
        Own(),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def part_pooled(n):
    """spin"""
    return spin(n)  #:


def part_pool():
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(part_pooled, 6 * [N // 6]))


def part_consumer(q):
    """spin | ... get ..."""
    while True:
        n = q.get()  #:
        if n is None:
            break
        spin(n)  #:


def part_queue():
    q = queue.Queue()
    thread = threading.Thread(target=part_consumer, args=(q,))
    thread.start()
    for _ in range(10):
        q.put(N // 10)
    q.put(None)
    thread.join()


def part_many(n):
    """spin"""
    spin(n)  #:


def part_hundred():
    threads = [threading.Thread(target=part_many, args=(N // 20,)) for _ in range(100)]  #:
    for thread in threads:
        thread.start()  #:
    for thread in threads:
        thread.join()  #:


def part_short():
    """..."""
    for _ in range(50):
        thread = threading.Thread(target=part_many, args=(N // 100,))
        thread.start()
        thread.join()


def part_daemon():
    """spin"""
    while True:
        spin(1000)  #:


if __name__ == "__main__":
    sys.setswitchinterval(0.001)
    run(part_threads, part_pool, part_queue, part_hundred, part_short)
    threading.Thread(target=part_daemon, daemon=True).start()
    part_thread_one(N)

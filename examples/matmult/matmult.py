"""Matrix products in a C library, called by ctypes: matmult.py LIBRARY [N]."""

import ctypes
import sys


class MatrixSystem:
    def __init__(self, library, n):
        self.library = ctypes.CDLL(library)
        self.n = n
        self.a = self.matrix(lambda i, j: 1 / (1 + i + j))
        self.b = self.matrix(lambda i, j: float(i == j) + 0.5)
        self.c = self.matrix(lambda i, j: 0.0)

    def matrix(self, value):
        n = self.n
        return (ctypes.c_double * (n * n))(*(value(i, j) for i in range(n) for j in range(n)))

    def product(self, name):
        function = getattr(self.library, name)
        function.restype = None
        function.argtypes = [ctypes.c_size_t] + [ctypes.c_void_p] * 3
        function(self.n, self.a, self.b, self.c)
        return sum(self.c[:: self.n + 1])


def slow(system):
    return system.product("multiply_slow")


def fast(system):
    return system.product("multiply_fast") + system.product("multiply_blocked")


def main():
    system = MatrixSystem(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 512)
    print("trace slow %.6f" % slow(system))
    print("trace fast %.6f" % (fast(system) / 2))


if __name__ == "__main__":
    main()

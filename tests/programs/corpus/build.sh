#!/bin/sh
# build.sh OUTPUT SOURCE_DIR LIBRARY_DIR C CXX FORTRAN FLAGS...: one build of the corpus (FORTRAN may be "").
# A shell script, because one meson build has one compiler for a language and the corpus wants two.
set -e
output=$1 source=$2 library=$3 c=$4 cxx=$5 fortran=$6
shift 6
work=$output.p
mkdir -p "$work"
flags="-g -D_GNU_SOURCE -Wall -Wextra -Wno-unused-but-set-variable"
for name in corpus calls frames handlers assembly jit jumps libraries; do
	$c -std=gnu11 $flags ${fortran:+-DCORPUS_FORTRAN} "$@" -c "$source/$name.c" -o "$work/$name.o"
done
$c -c "$source/assembly.S" -o "$work/assembly_S.o"
$cxx $flags "$@" -c "$source/exceptions.cc" -o "$work/exceptions.o"
[ -z "$fortran" ] || $fortran -g "$@" -c "$source/fortran.f90" -o "$work/fortran.o"
$cxx "$work"/*.o -o "$output" -L"$library" -lplugin -Wl,-rpath,"$(cd "$library" && pwd)" -Wl,-z,lazy -pthread -ldl \
	${fortran:+-lgfortran}

"""The Debian packages, built from the tree: clean to lintian, installed, used by an ordinary user, removed. They are installed
in a mount namespace of their own, in which what they write lies over the machine's folders: the machine is as before."""

import os
import shutil
import subprocess

import pytest

from conftest import SOURCE, run

NAMES = {"hybrid", "libhybrid-dev", "libhybrid-reader1", "python3-hybrid"}
SPEEDSCOPE = "build/npm/node_modules/speedscope"


def unbuilt(folder, names):
    return [name for name in names if name in (".git", "build", "__pycache__") or name.startswith(("build-", "hyb-", "obj-"))]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The .changes file, with the packages beside it."""
    for command in ("dpkg-buildpackage", "dh", "dh_python3"):
        if not shutil.which(command):
            pytest.skip(f"{command} is not installed")
    if run("dpkg-checkbuilddeps", cwd=SOURCE).returncode:
        pytest.skip("not all that the package is built with is installed")
    folder = tmp_path_factory.mktemp("debian")
    tree = folder / "hybrid"
    shutil.copytree(SOURCE, tree, ignore=unbuilt)
    if (SOURCE / SPEEDSCOPE).exists():
        shutil.copytree(SOURCE / SPEEDSCOPE, tree / SPEEDSCOPE)
    # Into a file: a failure shows its end.
    with open(folder / "log", "w") as log:
        status = subprocess.run(["dpkg-buildpackage", "-us", "-uc", "-b"], cwd=tree, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                env={**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}).returncode
    assert status == 0, (folder / "log").read_text()[-4000:]
    changes, = folder.glob("*.changes")
    return changes


def test_packages(packages):
    assert {path.name.split("_")[0] for path in packages.parent.glob("*.deb") if "dbgsym" not in path.name} == NAMES
    fields = run("dpkg-deb", "-f", next(packages.parent.glob("hybrid_*.deb"))).stdout
    assert "libmpi" not in fields  # no MPI is needed where there is none


def test_lintian(packages, needs):
    needs("lintian")
    result = run("lintian", "--allow-root", "--fail-on", "error,warning", packages, timeout=300)
    assert (result.returncode, result.stdout) == (0, ""), result.stdout + result.stderr


# $1: what the user does; the rest are packages. /mnt has all that is written.
IN_A_NAMESPACE = """
set -eu
mount -t tmpfs none /mnt || exit 77
mkdir /mnt/user /mnt/packages
cp "$@" /mnt/packages
for folder in usr etc var; do
	mkdir /mnt/$folder /mnt/$folder.work
	mount -t overlay overlay -o lowerdir=/$folder,upperdir=/mnt/$folder,workdir=/mnt/$folder.work /$folder || exit 77
done
listed() { find /usr /etc /var/lib/dpkg/info | sort >"/mnt/$1"; }
listed before
dpkg -i /mnt/packages/*.deb
chown 65534:65534 /mnt/user
cd /mnt/user
setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH=/usr/bin:/bin HOME=/mnt/user sh -eu /mnt/packages/user
dpkg --purge hybrid libhybrid-dev libhybrid-reader1 python3-hybrid
listed after
diff /mnt/before /mnt/after
"""

AS_AN_ORDINARY_USER = """
[ "$(id -u)" = 65534 ]
cat >main.c <<'END'
#include <hybrid/hybrid.h>
int main(void)
{
	HYBRID_ENTER("packaged");
	for (volatile long i = 0; i < 200000000; i++)
		;
	HYBRID_LEAVE("packaged");
}
END
cc -g main.c -o main $(pkg-config --cflags --libs hybrid hybrid-reader)
hybrid-run --check
hybrid-run -o experiment ./main
hybrid-report experiment
hybrid-report experiment | grep -q 'packaged (main.c:4)'
hybrid-report --flat=line experiment | grep -q 'main:main.c:[56]'
hybrid-convert experiment --to collapsed -o - | grep -q packaged
hybrid-dump experiment | grep -q packaged
/usr/bin/python3 -c 'import hybrid; print(*[row.name for row in hybrid.open("experiment").profile()])' | grep packaged
if command -v man && [ -x /usr/bin/man ]; then man -w 1 hybrid-run; man -w 3 hybrid_api; man -w 7 hybrid; fi
[ ! -e /usr/share/hybrid/hybrid-page.html ] || hybrid-convert experiment --to html -o page.html
if command -v mpicc.mpich >/dev/null; then
	printf '%s\\n' '#include <mpi.h>' 'int main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }' >ranks.c
	mpicc.mpich ranks.c -o ranks
	mpiexec.mpich -n 2 hybrid-run -o ranks.experiment ./ranks
	hybrid-report --mpi ranks.experiment | grep MPI_Finalize
fi
"""


def test_installed_used_and_removed(packages, tmp_path, needs):
    needs("unshare")
    if os.geteuid():
        pytest.skip("root alone installs packages")
    (tmp_path / "user").write_text(AS_AN_ORDINARY_USER)
    debs = [path for path in packages.parent.glob("*.deb") if "dbgsym" not in path.name]
    result = run("unshare", "--mount", "--propagation", "private", "sh", "-c", IN_A_NAMESPACE, "sh", tmp_path / "user",
                 *debs, timeout=300)
    if result.returncode == 77:
        pytest.skip("this machine mounts no overlays: " + result.stderr)
    assert result.returncode == 0, result.stdout + result.stderr

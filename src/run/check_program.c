#include "run/check.h"

#include "run/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_symbols(const char *file, size_t size)
{
	if (elf_has_section(file, size, ".debug_info"))
		check_line(true, "debug information: functions, lines and inlined functions");
	else if (elf_has_section(file, size, ".symtab"))
		check_line(false, "debug information: functions only; compile with -g for lines");
	else
		check_line(false, "debug information: stripped; compile with -g, or install its debug "
				  "symbols or set DEBUGINFOD_URLS");
}

static void check_mpi_of(const char *file, size_t size, const struct program *program, bool mpi)
{
	if (program->static_mpi)
		check_line(false, "MPI is linked statically; put -lhybrid-mpi-mpich or -lhybrid-mpi-openmpi "
				  "in front of it");
	else if (elf_needs(file, size, "libmpi"))
		check_line(
			mpi, "MPI: its calls are probes%s", mpi ? "" : ", but Hybrid was built without MPI");
}

/* A program of the machine's own kind: what stands in its file. */
static void check_file(const struct program *program, bool mpi)
{
	int fd = open(program->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *file;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			if (!memcmp(file, ELFMAG, SELFMAG) && file[EI_CLASS] == ELFCLASS64) {
				check_symbols(file, (size_t)st.st_size);
				check_mpi_of(file, (size_t)st.st_size, program, mpi);
			}
			munmap(file, (size_t)st.st_size);
		}
	}
	close(fd);
}

bool check_program(const struct program *program, bool mpi)
{
	const char *name = *program->script ? program->script : program->path;

	check_title(name);
	if (*program->obstacle) {
		check_line(false, "it %s: it can be run, not measured", program->obstacle);
		return false;
	}
	if (*program->script)
		check_line(true, "runs with %s", program->path);
	else if (program->text)
		check_line(true, "is a script: what it starts is measured");
	else if (program->launcher)
		check_line(true, "is a launcher: the ranks that it starts are measured");
	else
		check_line(true, "can be measured");
	if (!program->text && !*program->script)
		check_file(program, mpi);
	return true;
}

#include "binary/code.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "binary/find.h"

/* The bytes of the file that an address is loaded from: their offset and number; 0 if there are none. */
static uint64_t find_bytes(Elf *elf, uint64_t address, uint64_t *ret_offset)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
			!(header.p_flags & PF_X) || address < header.p_vaddr ||
			address - header.p_vaddr >= header.p_filesz)
			continue;
		*ret_offset = header.p_offset + (address - header.p_vaddr);
		return header.p_filesz - (address - header.p_vaddr);
	}
	return 0;
}

/* 0 with *ret_size, or -1 with errno. */
static int read_bytes(int fd, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*ret_size = done;
	return 0;
}

static int read_code(const struct sym_wanted *wanted, int fd, uint64_t address, void *buffer, size_t size,
	struct hyb_code *ret_code, struct hyb_error *err)
{
	struct hyb_code code = {0};
	uint64_t offset = 0, there = 0;
	Elf *elf;
	GElf_Ehdr header;
	bool known;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	known = elf && gelf_getehdr(elf, &header);
	if (known) {
		there = find_bytes(elf, address, &offset);
		code.machine = header.e_machine;
		code.wide = header.e_ident[EI_CLASS] == ELFCLASS64;
		code.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
	}
	elf_end(elf);
	if (!known) {
		error_set(err, HYB_EFORMAT, "%s: not an ELF file", wanted->path);
		return HYB_EFORMAT;
	}
	if (read_bytes(fd, offset, buffer, there < size ? (size_t)there : size, &code.size) < 0) {
		error_set(err, HYB_EIO, "%s: %s", wanted->path, strerror(errno));
		return HYB_EIO;
	}
	*ret_code = code;
	return 0;
}

int sym_code_read(const struct sym_wanted *wanted, uint64_t address, void *buffer, size_t size,
	struct hyb_code *ret_code, struct hyb_error *err)
{
	char problem[512];
	int fd = sym_find_code(wanted, problem, sizeof(problem));
	int r;

	if (fd < 0) {
		error_set(err, HYB_EFORMAT, "%s", *problem ? problem : "there is no file of this code");
		return HYB_EFORMAT;
	}
	r = read_code(wanted, fd, address, buffer, size, ret_code, err);
	close(fd);
	return r;
}

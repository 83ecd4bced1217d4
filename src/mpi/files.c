#include "mpi/files.h"

#include "mpi/messages.h"

bool file_has_positions(MPI_File file)
{
	int mode = 0;

	return PMPI_File_get_amode(file, &mode) == MPI_SUCCESS && !(mode & MPI_MODE_SEQUENTIAL);
}

static bool may_ask(MPI_File file)
{
	const struct handle *handle = handle_find(handle_key(file));

	return handle && handle->positions;
}

uint64_t file_offset(MPI_File file, MPI_Offset offset)
{
	MPI_Offset byte = -1;

	if (offset < 0 || !may_ask(file))
		return 0;
	if (PMPI_File_get_byte_offset(file, offset, &byte) != MPI_SUCCESS || byte < 0)
		return 0;
	return (uint64_t)byte + 1;
}

uint64_t file_position(MPI_File file)
{
	MPI_Offset offset;

	if (!may_ask(file) || PMPI_File_get_position(file, &offset) != MPI_SUCCESS)
		return 0;
	return file_offset(file, offset);
}

void file_split_begin(MPI_File file, uint64_t offset)
{
	struct handle *handle = file_handle(file);

	if (handle)
		atomic_store_explicit(&handle->split, offset, memory_order_relaxed);
}

uint64_t file_split_end(MPI_File file)
{
	struct handle *handle = file_handle(file);

	return handle ? atomic_exchange_explicit(&handle->split, 0, memory_order_relaxed) : 0;
}

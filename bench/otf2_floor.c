/*
 * The floor of converting to OTF2: libotf2 writes so many enters and leaves of LOCATIONS threads and nothing
 * else is done. otf2_floor DIRECTORY EVENTS LOCATIONS prints "seconds S", CPU time.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REGIONS 40

static OTF2_FlushType before_flush(
	void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
	return 0;
}

static OTF2_FlushCallbacks flush = {before_flush, after_flush};

static void ok(OTF2_ErrorCode error)
{
	if (error == OTF2_SUCCESS)
		return;
	fprintf(stderr, "otf2_floor: %s\n", OTF2_Error_GetDescription(error));
	exit(1);
}

static void write_events(OTF2_EvtWriter *writer, unsigned long events)
{
	uint32_t region = 0;

	for (unsigned long i = 0; i < events; i += 2) {
		region = (region + 7) % REGIONS;
		ok(OTF2_EvtWriter_Enter(writer, NULL, i * 5000, region));
		ok(OTF2_EvtWriter_Leave(writer, NULL, i * 5000 + 4000, region));
	}
}

static void write_definitions(OTF2_Archive *archive, unsigned long events, unsigned locations)
{
	OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(archive);

	ok(OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000000000, 0, events * 5000, 0));
	ok(OTF2_GlobalDefWriter_WriteString(defs, 0, "name"));
	for (uint32_t i = 0; i < REGIONS; i++)
		ok(OTF2_GlobalDefWriter_WriteRegion(defs, i, 0, 0, 0, OTF2_REGION_ROLE_FUNCTION,
			OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, i, i));
	ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	ok(OTF2_GlobalDefWriter_WriteLocationGroup(
		defs, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
	for (unsigned i = 0; i < locations; i++)
		ok(OTF2_GlobalDefWriter_WriteLocation(
			defs, i, 0, OTF2_LOCATION_TYPE_CPU_THREAD, events / locations, 0));
	ok(OTF2_Archive_CloseGlobalDefWriter(archive, defs));
}

int main(int argc, char **argv)
{
	unsigned long events = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned locations = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
	OTF2_Archive *archive;

	if (!events || !locations)
		return 2;
	archive = OTF2_Archive_Open(argv[1], "floor", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22,
		OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	ok(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
	ok(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
	ok(OTF2_Archive_OpenEvtFiles(archive));
	ok(OTF2_Archive_OpenDefFiles(archive));
	for (unsigned i = 0; i < locations; i++) {
		OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, i);

		write_events(writer, events / locations);
		ok(OTF2_Archive_CloseEvtWriter(archive, writer));
		ok(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i)));
	}
	ok(OTF2_Archive_CloseEvtFiles(archive));
	ok(OTF2_Archive_CloseDefFiles(archive));
	write_definitions(archive, events, locations);
	ok(OTF2_Archive_Close(archive));
	printf("seconds %.3f\n", (double)clock() / CLOCKS_PER_SEC);
	return 0;
}

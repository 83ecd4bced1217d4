/*
 * The layout of a .hyb file: what the runtime writes and the reader decodes.
 * file.h has its header and chunks; def.h, tree.h and record.h what is in them.
 *
 * One process writes one file, mapped shared; or the processes of a node write
 * one together. The file is the memory of the measurement: there is no other
 * copy and no step that "writes the profile".
 * docs/format.md describes the same bytes in prose, record by record.
 *
 * Rules that hold everywhere:
 *  - little endian; no pointers, only file offsets and ids derived from them;
 *  - a structure never changes its meaning; numbers are never reused;
 *    new chunk kinds and records may be added in a minor version, and a reader
 *    skips those that it does not know;
 *  - zero bytes are "not written yet" wherever they stand;
 *  - a u64 counter is written by one thread only and with one store, so that a
 *    reader in another process sees the value from before or after;
 *  - times are ticks of the process's clock (struct hyb_header, anchors).
 *
 * These headers may be included by everybody.
 */
#ifndef HYB_FORMAT_H
#define HYB_FORMAT_H

#include "format/def.h"
#include "format/file.h"
#include "format/record.h"
#include "format/tree.h"

#endif

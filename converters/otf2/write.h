/* Writes an experiment as an OTF2 archive: see docs/otf2.md for what becomes of each record. */
#ifndef HYB_OTF2_WRITE_H
#define HYB_OTF2_WRITE_H

#include "converters/converter.h"

int otf2_write(const struct convert_job *job, struct hyb_error *err);

#endif

/*
 * Callbacks of libotf2 are rows of tables: ROW(record, statement, parameters), where the parameters are those
 * behind what all callbacks are given, and the statement applies the record to `im`.
 */
#ifndef HYB_OTF2_IMPORT_CALLBACK_H
#define HYB_OTF2_IMPORT_CALLBACK_H

#include "otf2_thread.h"

#define DEFINE_CALLBACK(record_, statement_, ...) \
	static OTF2_CallbackCode on_##record_(OTF2_LocationRef location, OTF2_TimeStamp time, \
		uint64_t position, void *data, OTF2_AttributeList *attributes, ##__VA_ARGS__) \
	{ \
		struct import *im = data; \
\
		if (!thread_event(im, time)) \
			return OTF2_CALLBACK_INTERRUPT; \
		statement_; \
		return OTF2_CALLBACK_SUCCESS; \
	}
#define SET_CALLBACK(record_, ...) OTF2_EvtReaderCallbacks_Set##record_##Callback(callbacks, on_##record_);
#define NOTHING (void)0 /* a moment that is known of the thread */

#endif

/* A shared library of tiny functions: the way through the PLT costs more than they do. */
#ifndef CORPUS_PLUGIN_H
#define CORPUS_PLUGIN_H

#include <stdint.h>

uint64_t plugin_one(uint64_t x);
uint64_t plugin_two(uint64_t x);

#endif

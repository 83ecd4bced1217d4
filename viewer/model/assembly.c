#include "viewer/model/assembly.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "viewer/model/assembly_sites.h"
#include "binary/disassemble.h"

#define EXTENT_MAX 65536u /* bytes of a function; of larger ones only what is near samples */
#define NEAR 256u /* bytes between samples that still belong together */
#define BEHIND 64u /* bytes behind the last one */
#define STUB 16u /* bytes of a stub of the linker */
#define TOTAL_MAX (512u << 10) /* bytes in all */

/* Code that is shown in one piece. */
struct block {
	const struct unit *unit;
	uint64_t start, end;
	bool whole; /* a function from its start on */
	size_t first_site, site_count; /* of all that are in it */
};

struct making {
	struct sites sites;
	struct assembly assembly;
	const struct assembly_request *request;
	atomic_bool *stop;
	struct block block; /* that is being made */
	size_t heading; /* its item */
	size_t next_site; /* the first that is not in front of the instruction */
	uint64_t bytes_left;
	const uint8_t *bytes;
};

static const char *keep(struct making *m, const char *text)
{
	return strings_get(&m->assembly.strings, text);
}

static struct code_item *new_item(struct making *m)
{
	struct assembly *a = &m->assembly;

	if (!ARRAY_ROOM(a->items, a->count))
		return NULL;
	a->items[a->count] = (struct code_item){.file = "", .text = ""};
	return &a->items[a->count++];
}

/* The source lines of an address, from the line table and the inlined functions. */
static int fill_source(struct making *m, struct code_item *item)
{
	const struct assembly_request *request = m->request;
	const struct unit *unit = m->block.unit;
	size_t count;
	const struct hyb_frame *frames =
		hyb_symbols_lookup(unit->symbols, unit->module, item->address, false, &count);

	for (size_t f = 0; f < count; f++) {
		bool fits = sites_fits(request, frames[f].function, frames[f].file);

		item->of_function |= fits;
		item->own |= fits && !f;
		item->at_line |= fits && request->line && frames[f].line == request->line;
	}
	item->file = keep(m, frames[0].file);
	item->line = frames[0].line;
	return item->file ? 0 : HYB_ENOMEM;
}

/* Adds the samples of the sites up to the end of an instruction. */
static void take_sites(struct making *m, struct code_item *item, uint64_t end)
{
	const struct block *block = &m->block;

	for (; m->next_site < block->first_site + block->site_count; m->next_site++) {
		const struct site *site = site_at(&m->sites, m->next_site);

		if (site_inside(site) >= end)
			break;
		item->samples += site->samples;
		item->here += site->here;
		item->through += site->through;
		/* Names that only the tree knows. */
		if (site->of_function && !item->of_function)
			item->of_function = item->own = true;
	}
}

static void count_item(struct making *m, const struct code_item *item)
{
	struct assembly *a = &m->assembly;

	a->samples += item->samples;
	a->own += item->own ? item->samples : 0;
	a->most = item->samples > a->most ? item->samples : a->most;
	a->inlined |= !item->own;
	a->items[m->heading].samples += item->samples;
}

static int take_slot(void *data, const struct instruction *instruction)
{
	uint64_t *slot = data;

	if (instruction->jump)
		*slot = instruction->slot;
	return instruction->jump;
}

/* The function of another module that a stub of the linker leads to, or NULL. */
static const char *name_stub(const struct unit *unit, uint64_t address)
{
	struct hyb_code code;
	struct hyb_error error;
	uint8_t bytes[STUB];
	uint64_t slot = 0;

	if (hyb_symbols_code(unit->symbols, unit->module, address, bytes, sizeof(bytes), &code, &error))
		return NULL;
	disassemble(&code, bytes, address, false, take_slot, &slot);
	return slot ? hyb_symbols_import(unit->symbols, unit->module, slot) : NULL;
}

/* "<name+0x10>" of what is jumped to, or "". */
static void name_target(const struct making *m, uint64_t target, char *text, size_t size)
{
	const struct block *block = &m->block;
	const struct hyb_frame *frame;
	const char *stub;
	uint64_t start, end;
	size_t count;

	if (target >= block->start && target < block->end && block->whole) {
		snprintf(text, size, " <+0x%" PRIx64 ">", target - block->start);
		return;
	}
	frame = hyb_symbols_lookup(block->unit->symbols, block->unit->module, target, false, &count);
	frame += count - 1;
	if (!*frame->function || frame->guess) {
		stub = name_stub(block->unit, target);
		if (stub)
			snprintf(text, size, " <%.200s>", stub);
		return;
	}
	if (hyb_symbols_extent(block->unit->symbols, block->unit->module, target, &start, &end) &&
		start < target)
		snprintf(text, size, " <%.200s+0x%" PRIx64 ">", frame->function, target - start);
	else
		snprintf(text, size, " <%.200s>", frame->function);
}

static void name_slot(const struct making *m, uint64_t slot, char *text, size_t size)
{
	const struct unit *unit = m->block.unit;
	const char *name = hyb_symbols_import(unit->symbols, unit->module, slot);

	if (name)
		snprintf(text, size, " <%.200s>", name);
}

static int put_instruction(void *data, const struct instruction *instruction)
{
	struct making *m = data;
	struct code_item *item = new_item(m);
	char name[240] = "", text[480];

	if (!item)
		return HYB_ENOMEM;
	if (atomic_load(m->stop))
		return 1;
	item->address = instruction->address;
	item->target = instruction->target;
	item->jump = instruction->jump;
	item->call = instruction->call;
	item->size =
		(uint8_t)(instruction->size < sizeof(item->bytes) ? instruction->size : sizeof(item->bytes));
	memcpy(item->bytes, m->bytes + (instruction->address - m->block.start), item->size);
	if (item->target)
		name_target(m, item->target, name, sizeof(name));
	else if (instruction->slot)
		name_slot(m, instruction->slot, name, sizeof(name));
	snprintf(text, sizeof(text), *instruction->operands ? "%-7s %s%s" : "%s%s%s", instruction->mnemonic,
		instruction->operands, name);
	item->text = keep(m, text);
	if (!item->text || fill_source(m, item))
		return HYB_ENOMEM;
	take_sites(m, item, item->address + instruction->size);
	count_item(m, item);
	return 0;
}

/* Where there are no instructions: the addresses that were measured, each with its line. */
static int put_addresses(struct making *m)
{
	const struct block *block = &m->block;
	int r = 0;

	while (!r && m->next_site < block->first_site + block->site_count) {
		struct code_item *item = new_item(m);

		if (!item)
			return HYB_ENOMEM;
		item->address = site_inside(site_at(&m->sites, m->next_site));
		r = fill_source(m, item);
		take_sites(m, item, item->address + 1);
		count_item(m, item);
	}
	return r;
}

/* Only the first reason is kept. */
static void set_problem(struct making *m, const char *text)
{
	if (!*m->assembly.problem)
		snprintf(m->assembly.problem, sizeof(m->assembly.problem), "not all is shown: %.560s", text);
}

/* 0, 1: stopped, or HYB_ENOMEM. */
static int put_code(struct making *m)
{
	const struct block *block = &m->block;
	size_t size = (size_t)(block->end - block->start);
	struct hyb_error error = {0};
	struct hyb_code code = {0};
	uint8_t *bytes = malloc(size);
	int r;

	if (!bytes)
		return HYB_ENOMEM;
	m->bytes = bytes;
	r = disassemble_missing() ? HYB_EFORMAT
				  : hyb_symbols_code(block->unit->symbols, block->unit->module, block->start,
					    bytes, size, &code, &error);
	if (r == HYB_EFORMAT || r == HYB_EIO) {
		set_problem(m, disassemble_missing() ? disassemble_missing() : error.text);
	} else if (!r) {
		r = disassemble(&code, bytes, block->start, m->request->att, put_instruction, m);
		if (r == HYB_EFORMAT)
			set_problem(m, "the instructions of this machine are not known here");
	}
	free(bytes);
	/* What is left: code without bytes, or behind the end of what could be read. */
	return r == 1 || r == HYB_ENOMEM ? r : put_addresses(m);
}

static int put_heading(struct making *m)
{
	const struct block *block = &m->block;
	struct code_item *item = new_item(m);
	size_t count;
	const struct hyb_frame *frames;

	if (!item)
		return HYB_ENOMEM;
	frames = hyb_symbols_lookup(block->unit->symbols, block->unit->module, block->start, false, &count);
	item->heading = true;
	item->address = block->start;
	item->text = keep(m, *frames[count - 1].function ? frames[count - 1].function : m->request->name);
	item->file = keep(m, block->unit->module->path);
	m->heading = m->assembly.count - 1;
	return item->text && item->file ? 0 : HYB_ENOMEM;
}

/* The block around a site, and all sites that are in it. Sites stand by address. */
static void find_block(struct making *m, size_t first)
{
	const struct site *site = site_at(&m->sites, first), *last = site;
	const struct unit *unit = &m->sites.units[site->unit];
	struct block block = {.unit = unit, .first_site = first};
	size_t i = first, count = m->sites.table.count;

	block.whole = hyb_symbols_extent(
			      unit->symbols, unit->module, site_inside(site), &block.start, &block.end) &&
		      block.end - block.start <= EXTENT_MAX;
	for (; block.whole && block.first_site; block.first_site--) {
		const struct site *before = site_at(&m->sites, block.first_site - 1);

		if (before->unit != site->unit || site_inside(before) < block.start)
			break;
	}
	for (i = first; i < count && site_at(&m->sites, i)->unit == site->unit; i++) {
		uint64_t at = site_inside(site_at(&m->sites, i));

		if (block.whole ? at >= block.end
				: at - site_inside(last) > NEAR || at - site_inside(site) > EXTENT_MAX)
			break;
		last = site_at(&m->sites, i);
	}
	if (!block.whole) {
		block.start = site->address;
		block.end = site_inside(last) + BEHIND;
	}
	block.site_count = i - block.first_site;
	m->block = block;
}

static int make_block(struct making *m, size_t first)
{
	uint64_t size;
	int r;

	find_block(m, first);
	size = m->block.end - m->block.start;
	if (size > m->bytes_left) {
		set_problem(m, "the function has code in too many places");
		return 0;
	}
	m->bytes_left -= size;
	m->next_site = m->block.first_site;
	r = put_heading(m);
	return r ? r : put_code(m);
}

static int make_all(struct making *m)
{
	int r = 0;

	for (size_t i = 0; !r && i < m->sites.table.count; i++) {
		if (!site_at(&m->sites, i)->of_function)
			continue;
		r = make_block(m, i);
		if (i < m->block.first_site + m->block.site_count)
			i = m->block.first_site + m->block.site_count - 1;
	}
	return r;
}

int assembly_make(const struct snapshot *snapshot, const struct assembly_request *request, atomic_bool *stop,
	struct assembly *ret)
{
	struct making m = {.request = request, .stop = stop, .bytes_left = TOTAL_MAX};
	int r = sites_gather(&m.sites, snapshot, request, stop);

	if (!r)
		r = make_all(&m);
	sites_release(&m.sites);
	if (r)
		assembly_release(&m.assembly);
	else
		*ret = m.assembly;
	return r;
}

void assembly_release(struct assembly *assembly)
{
	free(assembly->items);
	strings_release(&assembly->strings);
	*assembly = (struct assembly){0};
}

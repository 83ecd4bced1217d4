#include "profile/metrics/derive.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"

#define NESTED_MAX 50u /* parentheses */
#define STACK_MAX (3 * NESTED_MAX + 3) /* a sum, a product and a factor wait at each level */

enum operation { PUSH_NUMBER, PUSH_VALUE, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE };

/* What a part of an expression does when nodes are summed. */
enum grade { CONSTANT, SUM, RATIO };

struct step {
	enum operation operation;
	union {
		double number;
		size_t value;
	} of;
};

/* Postfix: each operation takes its operands from the stack. */
struct derive {
	struct step *steps;
	size_t count;
	bool ratio;
};

struct parser {
	const char *text, *at;
	const struct derive_names *names;
	struct derive *derive;
	struct derive_error *error;
	unsigned nested;
};

static bool fail(struct parser *p, const char *text)
{
	p->error->at = (size_t)(p->at - p->text);
	p->error->unknown = false;
	snprintf(p->error->text, sizeof(p->error->text), "%s", text);
	return false;
}

static bool add_step(struct parser *p, struct step step)
{
	struct derive *d = p->derive;

	return ARRAY_ADD(d->steps, d->count, step) || fail(p, "out of memory");
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

/* ---------------------------------------------------------------- names */

/* Letters that a name of any length goes on with. */
static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '.' || (unsigned char)c >= 0x80;
}

/* The longest name that stands here, or names->count. */
static size_t find_name(const struct parser *p, size_t *ret_length)
{
	size_t best = p->names->count, longest = 0;

	for (size_t i = 0; i < p->names->count; i++) {
		const char *name = p->names->names[i];
		size_t length = strlen(name);

		if (length <= longest || strncmp(p->at, name, length) ||
			(is_letter(p->at[length]) && is_letter(name[length - 1])))
			continue;
		best = i;
		longest = length;
	}
	*ret_length = longest;
	return best;
}

static size_t find_exact(const struct parser *p, const char *name, size_t length)
{
	for (size_t i = 0; i < p->names->count; i++)
		if (strlen(p->names->names[i]) == length && !strncmp(p->names->names[i], name, length))
			return i;
	return p->names->count;
}

static bool fail_unknown(struct parser *p, const char *name, size_t length)
{
	char written[120];

	snprintf(written, sizeof(written), "%.*s", (int)length, name);
	fail(p, "");
	p->error->unknown = true;
	snprintf(p->error->text, sizeof(p->error->text), "there is no metric %.60s", written);
	nearest_put(p->error->text, sizeof(p->error->text), written, p->names->names, p->names->count);
	return false;
}

static bool parse_name(struct parser *p, enum grade *ret_grade)
{
	const char *name = p->at;
	bool quoted = *name == '"';
	size_t length = 0, i;

	if (quoted) {
		const char *end = strchr(++name, '"');

		if (!end)
			return fail(p, "the name that begins here has no closing \"");
		length = (size_t)(end - name);
		i = find_exact(p, name, length);
	} else {
		i = find_name(p, &length);
		while (i == p->names->count && is_letter(name[length]))
			length++;
	}
	if (i == p->names->count)
		return fail_unknown(p, name, length);
	*ret_grade = p->names->ratios && p->names->ratios[i] ? RATIO : SUM;
	p->at = name + length + quoted;
	return add_step(p, (struct step){.operation = PUSH_VALUE, .of.value = i});
}

/* -------------------------------------------------------------- numbers */

/* Without strtod(), which reads another decimal point in other languages. */
static bool parse_number(struct parser *p)
{
	const char *start = p->at;
	double number = 0;
	int places = 0, exponent = 0;
	bool point = false, minus;

	for (; isdigit((unsigned char)*p->at) || (*p->at == '.' && !point); p->at++) {
		if (*p->at == '.') {
			point = true;
			continue;
		}
		number = number * 10 + (*p->at - '0');
		places += point;
	}
	if (*p->at == 'e' || *p->at == 'E') {
		const char *digits = p->at + 1 + (p->at[1] == '-' || p->at[1] == '+');

		minus = p->at[1] == '-';
		for (p->at = digits; isdigit((unsigned char)*p->at); p->at++)
			exponent = exponent < 10000 ? 10 * exponent + (*p->at - '0') : exponent;
		if (p->at == digits)
			return fail(p, "the exponent of a number is missing");
		exponent = minus ? -exponent : exponent;
	}
	if (is_letter(*p->at))
		return fail(p, "a number does not go on like this; put names that begin with digits in \"\"");
	exponent -= places;
	number = exponent < 0 ? number / pow(10, -exponent) : number * pow(10, exponent);
	if (!isfinite(number)) {
		p->at = start;
		return fail(p, "the number is too large");
	}
	return add_step(p, (struct step){.operation = PUSH_NUMBER, .of.number = number});
}

/* ---------------------------------------------------------- expressions */

static bool parse_sum(struct parser *p, enum grade *ret_grade);

static bool parse_group(struct parser *p, enum grade *ret_grade)
{
	if (++p->nested > NESTED_MAX)
		return fail(p, "too many parentheses inside each other");
	p->at++;
	if (!parse_sum(p, ret_grade))
		return false;
	if (*p->at != ')')
		return fail(p, *p->at ? "an operator or ) is missing here" : "a ) is missing at the end");
	p->at++;
	p->nested--;
	return true;
}

static bool parse_factor(struct parser *p, enum grade *ret_grade)
{
	bool negative = false, ok;
	size_t length;

	for (skip_blanks(p); *p->at == '-' || *p->at == '+'; skip_blanks(p))
		negative ^= *p->at++ == '-';
	*ret_grade = CONSTANT;
	if (*p->at == '(')
		ok = parse_group(p, ret_grade);
	else if (find_name(p, &length) < p->names->count)
		ok = parse_name(p, ret_grade);
	else if (isdigit((unsigned char)*p->at) || *p->at == '.')
		ok = parse_number(p);
	else if (is_letter(*p->at) || *p->at == '"')
		ok = parse_name(p, ret_grade);
	else
		ok = fail(p, *p->at ? "a metric, a number or ( is missing in front of this"
				    : "a metric, a number or ( is missing at the end");
	if (ok)
		skip_blanks(p);
	return ok && (!negative || add_step(p, (struct step){.operation = NEGATE}));
}

static bool parse_product(struct parser *p, enum grade *ret_grade)
{
	enum grade left, right;

	if (!parse_factor(p, &left))
		return false;
	while (*p->at == '*' || *p->at == '/') {
		enum operation operation = *p->at++ == '*' ? MULTIPLY : DIVIDE;

		if (!parse_factor(p, &right) || !add_step(p, (struct step){.operation = operation}))
			return false;
		if (right != CONSTANT)
			left = operation == MULTIPLY && left == CONSTANT ? right : RATIO;
	}
	*ret_grade = left;
	return true;
}

static bool parse_sum(struct parser *p, enum grade *ret_grade)
{
	enum grade left, right;

	if (!parse_product(p, &left))
		return false;
	while (*p->at == '+' || *p->at == '-') {
		enum operation operation = *p->at++ == '+' ? ADD : SUBTRACT;

		if (!parse_product(p, &right) || !add_step(p, (struct step){.operation = operation}))
			return false;
		left = left == right ? left : RATIO;
	}
	*ret_grade = left;
	return true;
}

struct derive *derive_parse(
	const char *text, const struct derive_names *names, struct derive_error *ret_error)
{
	struct parser p = {.text = text, .at = text, .names = names, .error = ret_error};
	enum grade grade = CONSTANT;
	bool ok;

	p.derive = calloc(1, sizeof(*p.derive));
	ok = p.derive ? parse_sum(&p, &grade) : fail(&p, "out of memory");
	if (ok && *p.at)
		ok = fail(&p,
			*p.at == ')' ? "there is no ( to this" : "an operator is missing in front of this");
	if (!ok) {
		derive_free(p.derive);
		return NULL;
	}
	p.derive->ratio = grade != SUM;
	return p.derive;
}

void derive_free(struct derive *d)
{
	if (!d)
		return;
	free(d->steps);
	free(d);
}

static double apply(enum operation operation, double a, double b)
{
	switch (operation) {
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	default:
		return b != 0 ? a / b : (double)NAN; /* also of 1 / 0: no rate is infinite */
	}
}

double derive_evaluate(const struct derive *d, const double *values)
{
	double stack[STACK_MAX] = {0};
	size_t depth = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct step *s = &d->steps[i];

		if (s->operation == PUSH_NUMBER) {
			stack[depth++] = s->of.number;
		} else if (s->operation == PUSH_VALUE) {
			stack[depth++] = values[s->of.value];
		} else if (s->operation == NEGATE) {
			stack[depth - 1] = -stack[depth - 1];
		} else {
			depth--;
			stack[depth - 1] = apply(s->operation, stack[depth - 1], stack[depth]);
		}
	}
	return isfinite(stack[0]) ? stack[0] : (double)NAN;
}

bool derive_is_ratio(const struct derive *d)
{
	return d->ratio;
}

bool derive_uses(const struct derive *d, size_t name)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->steps[i].operation == PUSH_VALUE && d->steps[i].of.value == name)
			return true;
	return false;
}

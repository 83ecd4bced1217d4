#include "base/argument.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/nearest.h"

#define NAMES_MOST 100u
#define NEAR_MOST 3u

const char *argument_name(const struct option *options, int value)
{
	while (options->name && options->val != value)
		options++;
	return options->name;
}

/* Names that are like the word's. */
static void suggest(const struct option *options, const char *word, char text[ARGUMENT_TEXT])
{
	const char *names[NAMES_MOST];
	size_t count = 0, near[NEAR_MOST], found, n = strlen(text);

	for (; options->name && count < NAMES_MOST; options++)
		names[count++] = options->name;
	found = nearest_names(word, names, count, near, NEAR_MOST);
	for (size_t i = 0; i < found && n < ARGUMENT_TEXT; i++)
		n += (size_t)snprintf(
			text + n, ARGUMENT_TEXT - n, "%s--%s", i ? ", " : "; similar: ", names[near[i]]);
}

/* What getopt_long() has just returned '?' for. */
static void refuse(const struct option *options, char *const *argv, char text[ARGUMENT_TEXT])
{
	const char *word = argv[optind - 1], *name = optopt ? argument_name(options, optopt) : NULL;
	size_t length = strcspn(word, "=");
	bool is_long = !optopt || (name && length > 2 && !strncmp(word, "--", 2) &&
					  !strncmp(word + 2, name, length - 2));
	char own[80];

	if (is_long)
		snprintf(own, sizeof(own), "%.*s", (int)length, word);
	else
		snprintf(own, sizeof(own), "-%c", optopt);
	if (name) {
		snprintf(text, ARGUMENT_TEXT, "%s: %s", own,
			is_long && word[length] ? "takes no value" : "its value is missing");
		return;
	}
	snprintf(text, ARGUMENT_TEXT, "%s: no such option", own);
	if (is_long)
		suggest(options, own + strspn(own, "-"), text);
}

int argument_next(int argc, char *const *argv, const char *shorts, const struct option *options,
	char text[ARGUMENT_TEXT])
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, shorts, options, NULL);
	if (option == '?')
		refuse(options, argv, text);
	if (option == -1 || !optarg || *optarg)
		return option;
	snprintf(text, ARGUMENT_TEXT, "--%s: its value is empty", argument_name(options, option));
	return '?';
}

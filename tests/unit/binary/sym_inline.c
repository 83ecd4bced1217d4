/* The lines that symbols tests expect are those with "LINE name" in them. */
static inline __attribute__((always_inline)) int inner(int x) /* LINE inner-function */
{
	__asm__ volatile(".globl mark_inner\nmark_inner: nop" : "+r"(x)); /* LINE inner */
	return x;
}

static inline __attribute__((always_inline)) int middle(int x) /* LINE middle-function */
{
	return inner(x + 1) * 3; /* LINE middle */
}

__attribute__((noinline)) int outer(int x) /* LINE outer-function */
{
	return middle(x) - 1; /* LINE outer */
}

int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc);
}

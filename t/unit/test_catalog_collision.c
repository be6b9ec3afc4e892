/* Names chosen to collide: the distance of each name from its first slot. */
#include "protocol_help.h"

#include "catalog/tg_catalog.c"

#define TEST_NAMES 512

static tg_catalog_entry_t test_entries[TEST_NAMES];
static char test_names[TEST_NAMES][24];

/* Returns the slot of a name in an empty table of this size. */
static size_t
test_first(uint64_t seed, size_t nslots, tg_str_t name)
{
    static tg_catalog_entry_t *empty[TEST_NAMES * 2];
    tg_catalog_t catalog = { .slots = empty, .nslots = nslots };

    tg_catalog_set_seed(&catalog, seed);

    return tg_catalog_find_slot(&catalog, TG_ENTRY_TOOL, name);
}

/* Chooses names that share a slot if the seed is not used. */
static void
test_choose(void)
{
    unsigned n, at;

    for (n = 0, at = 0; at < TEST_NAMES; n++) {
        snprintf(test_names[at], sizeof(test_names[at]), "tool%u", n);
        test_entries[at].kind = TG_ENTRY_TOOL;
        test_entries[at].name = tg_str_from_cstr(test_names[at]);
        at += test_first(0, (size_t) TEST_NAMES * 2, test_entries[at].name)
              == 0;
    }
}

/* Counts the slots that are visited to find each name once. */
static size_t
test_probes(uint64_t seed)
{
    tg_catalog_t *catalog;
    size_t i, first, at, probes;
    tg_str_t name;

    catalog = tg_catalog_new(tg_alloc_libc());
    CU_ASSERT_FATAL(catalog != NULL);
    tg_catalog_set_seed(catalog, seed);

    for (i = 0; i < TEST_NAMES; i++) {
        CU_ASSERT(tg_catalog_add(catalog, &test_entries[i]) == TG_OK);
    }

    CU_ASSERT_FATAL(catalog->nslots == (size_t) TEST_NAMES * 2);
    probes = 0;

    for (i = 0; i < TEST_NAMES; i++) {
        name = test_entries[i].name;
        first = test_first(seed, catalog->nslots, name);
        at = tg_catalog_find_slot(catalog, TG_ENTRY_TOOL, name);
        CU_ASSERT(catalog->slots[at] == &test_entries[i]);
        probes += ((at - first) & (catalog->nslots - 1)) + 1;
    }

    tg_catalog_unref(catalog);

    return probes;
}

HELP_TEST(seeds, "names that collide")
{
    static const uint64_t seeds[] = { 1, UINT64_C(0x9e3779b97f4a7c15) };

    test_choose();

    /* Each name comes after all earlier ones. */
    CU_ASSERT_EQUAL(test_probes(0), (size_t) TEST_NAMES * (TEST_NAMES + 1) / 2);

    /* In a half full table with spread names, one and a half on average. */
    HELP_EACH(seed, seeds) {
        CU_ASSERT(test_probes(*seed) < (size_t) TEST_NAMES * 3);
    }
}

/* The catalog: names, listings, pages, digests. */
#include "protocol_host_talk.h"

#include "catalog/tg_catalog.h"

#define TEST_MANY 5000

typedef struct {
    tg_catalog_t *catalog;
    tg_catalog_entry_t *entries;
    char (*names)[32];
    size_t n;
} test_many_t;

/* Tools tool0 …, with methods of the same names between them. */
static void
test_many_init(test_many_t *many, size_t n)
{
    tg_catalog_entry_t *entry;
    size_t i;

    many->n = n;
    many->catalog = tg_catalog_new(tg_alloc_libc());
    tg_catalog_set_seed(many->catalog, n * UINT64_C(0x9e3779b97f4a7c15));
    many->entries = calloc(n, sizeof(many->entries[0]));
    many->names = calloc(n, sizeof(many->names[0]));
    CU_ASSERT_FATAL(many->catalog != NULL && many->entries != NULL
                    && many->names != NULL);

    for (i = 0; i < n; i++) {
        entry = &many->entries[i];
        snprintf(many->names[i], sizeof(many->names[i]), "tool%zu", i / 2);
        entry->kind = i % 2 ? TG_ENTRY_METHOD : TG_ENTRY_TOOL;
        entry->name = tg_str_from_cstr(many->names[i]);
        entry->description = TG_STR("One of many tools that do \"nothing\".");
        CU_ASSERT_FATAL(tg_catalog_add(many->catalog, entry) == TG_OK);
    }

    CU_ASSERT_FATAL(tg_catalog_seal(many->catalog) == TG_OK);
}

static void
test_many_deinit(test_many_t *many)
{
    tg_catalog_unref(many->catalog);
    free(many->entries);
    free(many->names);
}

HELP_TEST(empty, "empty")
{
    tg_catalog_t *catalog;
    help_alloc_t help;
    tg_buf_t out;

    help_alloc_init(&help);
    catalog = tg_catalog_new(&help.alloc);
    CU_ASSERT_FATAL(catalog != NULL);
    CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);
    CU_ASSERT(tg_catalog_size(catalog) == 0);
    CU_ASSERT(tg_catalog_find_escaped(catalog, TG_ENTRY_TOOL, TG_STR("a"))
              == NULL);
    tg_buf_init(&out, &help.alloc);
    CU_ASSERT(tg_catalog_write_list(catalog,
                                    &(tg_list_page_t){ .cursor = TG_STR_NONE },
                                    NULL, NULL, &out)
              == TG_OK);
    HELP_EQ(tg_buf_view(&out), "\"tools\":[]");
    CU_ASSERT(tg_catalog_write_list(
                  catalog, &(tg_list_page_t){ .cursor = TG_STR("\"0\"") }, NULL,
                  NULL, &out)
              == TG_INVALID);
    tg_buf_deinit(&out);
    tg_catalog_unref(catalog);
    tg_catalog_unref(NULL);
    CU_ASSERT(help.live == 0);
}

HELP_TEST(listing, "listing")
{
    tg_catalog_entry_t entries[] = {
        { .kind = TG_ENTRY_TOOL,
          .name = TG_STR("full"),
          .title = TG_STR("A \"title\""),
          .description = TG_STR("Line\nline"),
          .annotations = TG_STR("{ \"readOnlyHint\" : true }"),
          .input_schema = TG_STR("{ \"type\": \"object\",\n \"x\": 1.50 }"),
          .output_schema = TG_STR("{\"type\":\"object\"}") },
        { .kind = TG_ENTRY_METHOD, .name = TG_STR("hidden") },
        { .kind = TG_ENTRY_TOOL, .name = TG_STR("bare") },
        { .kind = TG_ENTRY_TOOL,
          .name = TG_STR("given"),
          .listing = TG_STR("{ \"name\": \"given\", \"extra\": [ ] }") },
    };
    tg_catalog_t *catalog;
    HELP_BUFFER(out);
    size_t i;

    catalog = tg_catalog_new(tg_alloc_libc());

    for (i = 0; i < 4; i++) {
        CU_ASSERT(tg_catalog_add(catalog, &entries[i]) == TG_OK);
        CU_ASSERT(entries[i].index == i);
    }

    CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);
    CU_ASSERT(tg_catalog_size(catalog) == 4);
    CU_ASSERT(tg_catalog_get_entry(catalog, 2) == &entries[2]);
    CU_ASSERT(tg_catalog_write_list(catalog,
                                    &(tg_list_page_t){ .cursor = TG_STR_NONE },
                                    NULL, NULL, &out)
              == TG_OK);

    /* Byte by byte: schemas are copied token by token. */
    HELP_EQ(tg_buf_view(&out),
            "\"tools\":[{\"name\":\"full\",\"title\":\"A \\\"title\\\"\","
            "\"description\":\"Line\\nline\",\"inputSchema\":{\"type\":"
            "\"object\",\"x\":1.50},\"outputSchema\":{\"type\":\"object\"},"
            "\"annotations\":{\"readOnlyHint\":true}},{\"name\":\"bare\","
            "\"inputSchema\":{\"type\":\"object\",\"properties\":{}}},"
            "{\"name\":\"given\",\"extra\":[]}]");
    tg_catalog_unref(catalog);
}

HELP_TEST(find, "find among 5000")
{
    test_many_t many;
    char name[32], escaped[TG_NAME_MAX * 7];
    const tg_catalog_entry_t *entry;
    size_t i;

    test_many_init(&many, TEST_MANY);

    for (i = 0; i < TEST_MANY; i++) {
        entry = tg_catalog_find_escaped(many.catalog,
                                        i % 2 ? TG_ENTRY_METHOD : TG_ENTRY_TOOL,
                                        tg_str_from_cstr(many.names[i]));
        CU_ASSERT(entry == &many.entries[i]);
    }

    for (i = TEST_MANY / 2; i < TEST_MANY; i++) {
        snprintf(name, sizeof(name), "tool%zu", i);
        CU_ASSERT(tg_catalog_find_escaped(many.catalog, TG_ENTRY_TOOL,
                                          tg_str_from_cstr(name))
                  == NULL);
    }

    CU_ASSERT(tg_catalog_find_escaped(many.catalog, TG_ENTRY_TOOL,
                                      TG_STR("\\u0074ool\\u0030"))
              == &many.entries[0]);
    CU_ASSERT(tg_catalog_find_escaped(many.catalog, TG_ENTRY_TOOL,
                                      TG_STR("tool0\\u0000"))
              == NULL);
    CU_ASSERT(tg_catalog_find_escaped(many.catalog, TG_ENTRY_TOOL, TG_STR(""))
              == NULL);

    /* The longest possible escaped name, and a longer one. */
    memset(escaped, '\\', sizeof(escaped));
    CU_ASSERT(tg_catalog_find_escaped(many.catalog, TG_ENTRY_TOOL,
                                      tg_str(escaped, TG_NAME_MAX * 6))
              == NULL);
    CU_ASSERT(tg_catalog_find_escaped(many.catalog, TG_ENTRY_TOOL,
                                      tg_str(escaped, sizeof(escaped) - 2))
              == NULL);
    test_many_deinit(&many);
}

HELP_TEST(duplicates, "duplicates")
{
    tg_catalog_entry_t tool = { .kind = TG_ENTRY_TOOL, .name = TG_STR("x") };
    tg_catalog_entry_t again = { .kind = TG_ENTRY_TOOL, .name = TG_STR("x") };
    tg_catalog_entry_t method = { .kind = TG_ENTRY_METHOD,
                                  .name = TG_STR("x") };
    tg_catalog_t *catalog;

    catalog = tg_catalog_new(tg_alloc_libc());
    CU_ASSERT(tg_catalog_add(catalog, &tool) == TG_OK);
    CU_ASSERT(tg_catalog_add(catalog, &again) == TG_EXISTS);
    CU_ASSERT(tg_catalog_add(catalog, &method) == TG_OK);
    CU_ASSERT(tg_catalog_size(catalog) == 2);
    CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);
    CU_ASSERT(tg_catalog_find_escaped(catalog, TG_ENTRY_TOOL, TG_STR("x"))
              == &tool);
    CU_ASSERT(tg_catalog_find_escaped(catalog, TG_ENTRY_METHOD, TG_STR("x"))
              == &method);
    tg_catalog_unref(catalog);
}

/* --- pages --- */

static int
test_is_visible(void *ctx, const tg_catalog_entry_t *entry)
{
    const size_t *each = ctx;

    return entry->index % *each == 0;
}

/* Checks the sizes of all pages. Returns the number of tools. */
static size_t
test_pages(test_many_t *many, size_t each, size_t *npages)
{
    tg_str_t tools, raw, name;
    HELP_BUFFER(out);
    HELP_BUFFER(cursor);
    tg_json_cursor_t json;
    size_t n, on_page;

    n = 0;
    *npages = 0;

    for (;;) {
        tg_buf_truncate(&out, 0);
        tg_buf_append_char(&out, '{');
        raw = cursor.len != 0 ? tg_buf_view(&cursor) : TG_STR_NONE;
        CU_ASSERT_FATAL(tg_catalog_write_list(
                            many->catalog, &(tg_list_page_t){ .cursor = raw },
                            test_is_visible, &each, &out)
                        == TG_OK);
        tg_buf_append_char(&out, '}');
        CU_ASSERT_FATAL(tg_json_validate(tg_buf_view(&out), NULL) == TG_OK);
        CU_ASSERT_FATAL(
            tg_json_get_member(tg_buf_view(&out), TG_STR("tools"), &tools)
            == TG_OK);
        tg_json_init(&json, tools);
        (void) tg_json_enter_array(&json);
        ++*npages;

        for (on_page = 0; tg_json_next_element(&json) == TG_OK; on_page++) {
            (void) tg_json_read_value(&json, &raw);
            CU_ASSERT(tg_json_get_member(raw, TG_STR("name"), &name) == TG_OK);
            CU_ASSERT(tg_json_string_eq(name, many->entries[n * each].name));
            n++;
        }

        CU_ASSERT(on_page == 1 || tools.len <= TG_LIST_PAGE_SIZE + 2);

        if (tg_json_get_member(tg_buf_view(&out), TG_STR("nextCursor"), &raw)
            != TG_OK) {
            break;
        }

        CU_ASSERT(on_page > 0);
        tg_buf_truncate(&cursor, 0);
        tg_buf_append_str(&cursor, raw);
    }

    return n;
}

HELP_TEST(paging, "paging")
{
    test_many_t many;
    size_t npages;

    test_many_init(&many, TEST_MANY * 4);
    CU_ASSERT(test_pages(&many, 2, &npages) == TEST_MANY * 2);
    CU_ASSERT(npages > 1);
    CU_ASSERT(test_pages(&many, 20, &npages) == TEST_MANY / 5);
    CU_ASSERT(npages == 1);
    test_many_deinit(&many);
}

/* Tools around the size of a page: a larger one has its own page. */
HELP_TEST(page_sizes, "page sizes")
{
    static const size_t sizes[] = { TG_LIST_PAGE_SIZE * 2, 10,
                                    TG_LIST_PAGE_SIZE - 200, TG_LIST_PAGE_SIZE,
                                    10 };
    test_many_t many;
    HELP_BUFFER(text);
    size_t i, npages;

    memset(&many, 0, sizeof(many));
    many.catalog = tg_catalog_new(tg_alloc_libc());
    many.entries = calloc(5, sizeof(many.entries[0]));
    many.names = calloc(5, sizeof(many.names[0]));
    CU_ASSERT_FATAL(many.entries != NULL && many.names != NULL);
    CU_ASSERT_FATAL(tg_buf_reserve(&text, TG_LIST_PAGE_SIZE * 2) == TG_OK);
    memset(text.data, 'x', TG_LIST_PAGE_SIZE * 2);

    for (i = 0; i < 5; i++) {
        snprintf(many.names[i], sizeof(many.names[i]), "t%zu", i);
        many.entries[i].name = tg_str_from_cstr(many.names[i]);
        many.entries[i].description = tg_str(text.data, sizes[i]);
        CU_ASSERT(tg_catalog_add(many.catalog, &many.entries[i]) == TG_OK);
    }

    CU_ASSERT(tg_catalog_seal(many.catalog) == TG_OK);
    CU_ASSERT(test_pages(&many, 1, &npages) == 5);
    CU_ASSERT(npages == 4);
    test_many_deinit(&many);
}

/* A relay client requests no pages: it gets the whole list or an error. */
HELP_TEST(whole, "a whole list")
{
    test_many_t many;
    host_t host;
    tg_str_t got, tools;
    tg_json_cursor_t json;
    size_t n;

    test_many_init(&many, 12000);
    CU_ASSERT(tg_catalog_list_size(many.catalog) > TG_LIST_PAGE_SIZE);
    CU_ASSERT(tg_catalog_list_size(many.catalog) < TG_FRAME_RELAY_MAX);
    host_init(&host, tg_alloc_libc(), TG_DIALECT_RELAY, 1 << 24, 4);
    tg_peer_set_catalog(&host.peer, many.catalog);
    host_feed(&host, TG_STR("{\"kind\":\"mcp_request\",\"id\":1,\"method\":"
                            "\"tools/list\",\"params\":{}}\n"));
    got = host_take(&host);
    CU_ASSERT_FATAL(tg_json_get_member(got, TG_STR("result"), &got) == TG_OK);
    CU_ASSERT(tg_json_get_member(got, TG_STR("nextCursor"), &tools)
              == TG_MISSING);
    CU_ASSERT_FATAL(tg_json_get_member(got, TG_STR("tools"), &tools) == TG_OK);
    tg_json_init(&json, tools);
    (void) tg_json_enter_array(&json);

    for (n = 0; tg_json_next_element(&json) == TG_OK; n++) {
        (void) tg_json_read_value(&json, NULL);
    }

    CU_ASSERT(n == 6000);
    HOST_LINE(&host,
              "{\"kind\":\"mcp_request\",\"id\":2,\"method\":\"tools/list\","
              "\"params\":{\"cursor\":\"x\"}}",
              "{\"kind\":\"mcp_response\",\"id\":2,\"error\":{\"code\":-32602,"
              "\"message\":\"$contains:cursor\"}}");
    test_many_deinit(&many);

    test_many_init(&many, 24000);
    CU_ASSERT(tg_catalog_list_size(many.catalog) > TG_FRAME_RELAY_MAX);
    tg_peer_set_catalog(&host.peer, many.catalog);
    HOST_LINE(&host,
              "{\"kind\":\"mcp_request\",\"id\":3,\"method\":\"tools/list\"}",
              "{\"kind\":\"mcp_response\",\"id\":3,\"error\":{\"code\":-32603,"
              "\"message\":\"$contains:more than the 1048575 of a message. "
              "Describe the tools in fewer words\"}}");
    tg_peer_set_catalog(&host.peer, host.catalog);
    host_deinit(&host);
    test_many_deinit(&many);
}

HELP_TEST(cursors, "cursors")
{
    /* clang-format off */
    static const char *const invalid[] = {
        "null", "1", "true", "{}", "[]", "\"\"", "\"0\"", "\"1\"", "\"1.\"",
        "\"-1.0123456789abcdef\"",
        "\"99999999999999999999999999999999.0123456789abcdef\"", "\"\\u0031\"",
        "\"0000000000000000000000000000000000000000000000000000000000\"",
    };
    /* clang-format on */
    test_many_t many;
    HELP_BUFFER(out);
    HELP_BUFFER(cursor);
    tg_str_t raw;
    size_t i, keep;

    test_many_init(&many, TEST_MANY * 4);
    tg_buf_append_cstr(&out, "before");

    HELP_EACH(row, invalid) {
        CU_ASSERT(tg_catalog_write_list(many.catalog,
                                        &(tg_list_page_t){
                                            .cursor = tg_str_from_cstr(*row) },
                                        NULL, NULL, &out)
                  == TG_INVALID);
        HELP_EQ(tg_buf_view(&out), "before");
    }

    tg_buf_truncate(&out, 0);
    tg_buf_append_char(&out, '{');
    CU_ASSERT(tg_catalog_write_list(many.catalog,
                                    &(tg_list_page_t){ .cursor = TG_STR_NONE },
                                    NULL, NULL, &out)
              == TG_OK);
    tg_buf_append_char(&out, '}');
    CU_ASSERT_FATAL(
        tg_json_get_member(tg_buf_view(&out), TG_STR("nextCursor"), &raw)
        == TG_OK);
    tg_buf_append_str(&cursor, raw);

    /* A valid cursor with another digest is invalid, and so is a longer one. */
    keep = out.len;
    i = (size_t) ((char *) memchr(cursor.data, '.', cursor.len) - cursor.data);

    for (/* void */; i + 1 < cursor.len; i++) {
        cursor.data[i] ^= 1;
        CU_ASSERT(tg_catalog_write_list(many.catalog,
                                        &(tg_list_page_t){
                                            .cursor = tg_buf_view(&cursor) },
                                        NULL, NULL, &out)
                  == TG_INVALID);
        cursor.data[i] ^= 1;
    }

    CU_ASSERT(out.len == keep);
    CU_ASSERT(tg_catalog_write_list(many.catalog,
                                    &(tg_list_page_t){
                                        .cursor = tg_buf_view(&cursor) },
                                    NULL, NULL, &out)
              == TG_OK);
    tg_buf_truncate(&cursor, cursor.len - 1);
    tg_buf_append_cstr(&cursor, "0\"");
    CU_ASSERT(tg_catalog_write_list(many.catalog,
                                    &(tg_list_page_t){
                                        .cursor = tg_buf_view(&cursor) },
                                    NULL, NULL, &out)
              == TG_INVALID);
    test_many_deinit(&many);
}

HELP_TEST(digest, "a cursor belongs to one catalog: another catalog refuses it")
{
    static const struct {
        const char *first, *description;
    } rows[] = { { "a", "x" }, { "b", "x" }, { "a", "y" } };
    tg_catalog_t *catalog;
    uint64_t digests[4];
    size_t i;

    for (i = 0; i < 4; i++) {
        tg_catalog_entry_t method = { .kind = TG_ENTRY_METHOD,
                                      .name = TG_STR("m") };
        tg_catalog_entry_t tools[] = { { .name = tg_str_from_cstr(
                                             rows[i % 3].first) },
                                       { .name = TG_STR("c") } };

        tools[1].description = tg_str_from_cstr(rows[i % 3].description);
        catalog = tg_catalog_new(tg_alloc_libc());

        if (i == 3) {
            /* Invisible entries do not count. */
            CU_ASSERT(tg_catalog_add(catalog, &method) == TG_OK);
        }

        CU_ASSERT(tg_catalog_add(catalog, &tools[0]) == TG_OK);
        CU_ASSERT(tg_catalog_add(catalog, &tools[1]) == TG_OK);
        CU_ASSERT(tg_catalog_seal(catalog) == TG_OK);
        digests[i] = tg_catalog_digest(catalog, TG_ENTRY_TOOL);
        tg_catalog_unref(catalog);
    }

    CU_ASSERT(digests[0] != digests[1] && digests[0] != digests[2]
              && digests[1] != digests[2]);
    CU_ASSERT(digests[0] == digests[3]);
}

HELP_TEST(steps, "sealing in steps renders the same as sealing at once")
{
    test_many_t many, whole;
    HELP_BUFFER(out);
    HELP_BUFFER(expected);
    size_t i, n;
    int rc;

    test_many_init(&whole, 100);
    test_many_init(&many, 100);
    tg_catalog_unref(many.catalog);
    many.catalog = tg_catalog_new(tg_alloc_libc());

    for (i = 0; i < many.n; i++) {
        many.entries[i].listing = TG_STR_NONE;
        many.entries[i].digest = 0;
        CU_ASSERT(tg_catalog_add(many.catalog, &many.entries[i]) == TG_OK);
    }

    for (n = 1; (rc = tg_catalog_seal_step(many.catalog, 1)) == TG_AGAIN; n++) {
        CU_ASSERT_FATAL(n < many.n);
    }

    CU_ASSERT(rc == TG_OK);
    CU_ASSERT(n == many.n);
    CU_ASSERT(tg_catalog_digest(many.catalog, TG_ENTRY_TOOL)
              == tg_catalog_digest(whole.catalog, TG_ENTRY_TOOL));
    tg_catalog_write_whole_list(many.catalog, NULL, NULL, &out);
    tg_catalog_write_whole_list(whole.catalog, NULL, NULL, &expected);
    CU_ASSERT(tg_str_eq(tg_buf_view(&out), tg_buf_view(&expected)));
    test_many_deinit(&many);
    test_many_deinit(&whole);
}

/* Rendered entries are borrowed: a second catalog has the same bytes. */
HELP_TEST(rendered, "rendered entries")
{
    test_many_t many;
    tg_catalog_entry_t entries[TEST_MANY / 50];
    tg_catalog_t *second;
    help_alloc_t help;
    size_t i, n;

    help_alloc_init(&help);
    n = HELP_COUNT(entries);
    test_many_init(&many, n);
    second = tg_catalog_new(&help.alloc);

    for (i = 0; i < n; i++) {
        entries[i] = many.entries[i];
        CU_ASSERT(tg_catalog_add(second, &entries[i]) == TG_OK);
    }

    /* Nothing is rendered, so no memory is needed. */
    help.fail_at = help.count + 1;
    CU_ASSERT(tg_catalog_seal(second) == TG_OK);
    CU_ASSERT(entries[0].listing.data == many.entries[0].listing.data);
    CU_ASSERT(tg_catalog_digest(second, TG_ENTRY_TOOL)
              == tg_catalog_digest(many.catalog, TG_ENTRY_TOOL));
    tg_catalog_unref(second);
    test_many_deinit(&many);
    CU_ASSERT(help.live == 0);
}

/* --- no memory --- */

static void
test_run(const tg_alloc_t *alloc, int may_fail)
{
    tg_catalog_entry_t entries[40];
    tg_catalog_t *catalog;
    char names[40][16];
    int rc, i;

    memset(entries, 0, sizeof(entries));
    catalog = tg_catalog_new(alloc);

    if (catalog == NULL) {
        CU_ASSERT(may_fail);
        return;
    }

    for (i = 0, rc = TG_OK; i < 40 && rc == TG_OK; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        entries[i].name = tg_str_from_cstr(names[i]);
        rc = tg_catalog_add(catalog, &entries[i]);
    }

    if (rc == TG_OK) {
        rc = tg_catalog_seal(catalog);
    }

    CU_ASSERT(rc == (may_fail ? TG_NOMEM : TG_OK));
    tg_catalog_unref(catalog);
}

HELP_TEST(add_again, "a failed addition changes nothing")
{
    tg_catalog_entry_t entries[9];
    tg_catalog_t *catalog;
    help_alloc_t help;
    char names[9][16];
    int i, k;

    for (k = 1; k <= 2; k++) {
        memset(entries, 0, sizeof(entries));
        help_alloc_init(&help);
        catalog = tg_catalog_new(&help.alloc);

        for (i = 0; i < 9; i++) {
            snprintf(names[i], sizeof(names[i]), "n%d", i);
            entries[i].name = tg_str_from_cstr(names[i]);
            help.fail_at = i == 8 ? help.count + (size_t) k : 0;
            CU_ASSERT(tg_catalog_add(catalog, &entries[i])
                      == (i == 8 ? TG_NOMEM : TG_OK));
        }

        CU_ASSERT(tg_catalog_size(catalog) == 8);
        CU_ASSERT(tg_catalog_find_escaped(catalog, TG_ENTRY_TOOL, TG_STR("n7"))
                  == &entries[7]);
        CU_ASSERT(tg_catalog_add(catalog, &entries[8]) == TG_OK);
        CU_ASSERT(tg_catalog_find_escaped(catalog, TG_ENTRY_TOOL, TG_STR("n8"))
                  == &entries[8]);
        tg_catalog_unref(catalog);
        CU_ASSERT(help.live == 0);
    }
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run);
}

/* MIME types: valid ones, and those of text. */
#include "protocol_help.h"

#include "catalog/tg_mime_type.h"

HELP_TEST(form, "form")
{
    static const char *const valid[] = { "text/plain", "image/svg+xml",
                                         "application/vnd.oasis.x-y_z.1",
                                         "text/plain; charset=utf-8",
                                         "inode/directory" };
    static const char *const invalid[] = { "",           "/",     "text",
                                           "text/",      "/x",    "a/b/c",
                                           "text/ x",    "a b/c", "a/b\n",
                                           "a/\xc3\xa9", ";a/b" };
    char text[300];
    size_t i;

    for (i = 0; i < HELP_COUNT(valid); i++) {
        CU_ASSERT(tg_mime_type_is_valid(tg_str_from_cstr(valid[i])));
    }

    for (i = 0; i < HELP_COUNT(invalid); i++) {
        CU_ASSERT(!tg_mime_type_is_valid(tg_str_from_cstr(invalid[i])));
    }

    memset(text, 'a', sizeof(text));
    text[1] = '/';
    CU_ASSERT(tg_mime_type_is_valid(tg_str(text, 255)));
    CU_ASSERT(!tg_mime_type_is_valid(tg_str(text, 256)));
}

HELP_TEST(text, "text")
{
    static const char *const texts[] = {
        "text/markdown",       "TEXT/html",
        "application/json",    "application/JSON; charset=utf-8",
        "application/ld+json", "image/svg+xml",
        "application/x-sh",    ""
    };
    static const char *const others[] = {
        "image/png",        "application/pdf", "application/octet-stream",
        "audio/wav",        "video/json",      "application/+json0",
        "application/jsonx"
    };
    size_t i;

    for (i = 0; i < HELP_COUNT(texts); i++) {
        CU_ASSERT(tg_mime_type_is_text(tg_str_from_cstr(texts[i])));
    }

    for (i = 0; i < HELP_COUNT(others); i++) {
        CU_ASSERT(!tg_mime_type_is_text(tg_str_from_cstr(others[i])));
    }

    CU_ASSERT(tg_mime_type_is_text(TG_STR_NONE));
}

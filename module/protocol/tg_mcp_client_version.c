/* Finds the MCP versions that a server lists when it rejects ours. */
#include "protocol/tg_mcp_client.h"

/* Bytes of an error's message or data that are searched. */
#define TG_MCP_ERROR_LEN 4096

static int
tg_mcp_text_has_word(tg_str_t text, const char *word)
{
    size_t i, len;

    len = strlen(word);

    for (i = 0; i + len <= text.len; i++) {
        if (memcmp(text.data + i, word, len) == 0) {
            return 1;
        }
    }

    return 0;
}

/* Checks for a date, the form of a version. */
static int
tg_mcp_is_version(const char *text)
{
    static const char form[] = "0000-00-00";
    size_t i;

    for (i = 0; i < TG_MCP_VERSION_LEN; i++) {
        if (form[i] == '0' ? !tg_is_digit(text[i]) : text[i] != form[i]) {
            return 0;
        }
    }

    return 1;
}

/* Stores the newest version before TG_MCP_VERSION_LEGACY in *version. */
static void
tg_mcp_find_version(tg_str_t text, const char **version)
{
    size_t i;

    text.len = text.len < TG_MCP_ERROR_LEN ? text.len : TG_MCP_ERROR_LEN;

    /* Search only texts about versions: other texts may contain dates, too. */
    if (!tg_mcp_text_has_word(text, "ersion")
        && !tg_mcp_text_has_word(text, "supported"))
    {
        return;
    }

    for (i = 0; i + TG_MCP_VERSION_LEN <= text.len; i++) {
        if (tg_mcp_is_version(text.data + i)
            && memcmp(text.data + i, TG_MCP_VERSION_LEGACY, TG_MCP_VERSION_LEN)
                   < 0
            && (*version == NULL
                || memcmp(text.data + i, *version, TG_MCP_VERSION_LEN) > 0))
        {
            *version = text.data + i;
        }
    }
}

tg_str_t
tg_mcp_find_older_version(const tg_response_t *error)
{
    const char *version;

    version = NULL;
    tg_mcp_find_version(error->message, &version);
    tg_mcp_find_version(error->data, &version);

    return version != NULL ? tg_str(version, TG_MCP_VERSION_LEN) : TG_STR_NONE;
}

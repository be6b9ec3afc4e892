/* Patterns of an `mcp_server` block that select items of its lists. */
#include "nginx/imports/ngx_tg_imports.h"

#include "base/tg_glob.h"
#include "schema/tg_uri.h"

/* Directives with patterns, and the kinds of items that they are about. */
#define NGX_TG_URI_KINDS                                                       \
    (TG_MCP_KIND_BIT(TG_MCP_RESOURCES) | TG_MCP_KIND_BIT(TG_MCP_TEMPLATES))

static const struct {
    const char *directive;
    size_t offset;
    unsigned kinds;
    const char *noun;
} ngx_tg_pattern_groups[] = {
    { "tools", offsetof(ngx_tg_mcp_server_t, include_patterns),
      TG_MCP_KIND_BIT(TG_MCP_TOOLS), "tools" },
    { "hide", offsetof(ngx_tg_mcp_server_t, exclude_patterns), TG_MCP_ALL_KINDS,
      "tools" },
    { "prompts", offsetof(ngx_tg_mcp_server_t, prompt_patterns),
      TG_MCP_KIND_BIT(TG_MCP_PROMPTS), "prompts" },
    { "resources", offsetof(ngx_tg_mcp_server_t, uri_patterns),
      NGX_TG_URI_KINDS, "resources" },
};

#define NGX_TG_PATTERN_GROUPS                                                  \
    (sizeof(ngx_tg_pattern_groups) / sizeof(ngx_tg_pattern_groups[0]))

static const ngx_array_t *
ngx_tg_mcp_server_get_patterns(const ngx_tg_mcp_server_t *mcp, size_t group)
{
    return *(ngx_array_t *const
                 *) (const void *) ((const char *) mcp
                                    + ngx_tg_pattern_groups[group].offset);
}

static ngx_uint_t
ngx_tg_pattern_matches(const ngx_str_t *pattern, tg_str_t name,
                       tg_str_t client_name)
{
    return tg_glob_match(ngx_tg_str_from_ngx(pattern), name)
           || tg_glob_match(ngx_tg_str_from_ngx(pattern), client_name);
}

static ngx_uint_t
ngx_tg_patterns_match(const ngx_array_t *patterns, tg_str_t name,
                      tg_str_t client_name)
{
    const ngx_str_t *pattern;
    ngx_uint_t i;

    for (i = 0; patterns != NULL && i < patterns->nelts; i++) {
        pattern = patterns->elts;

        if (ngx_tg_pattern_matches(&pattern[i], name, client_name)) {
            return 1;
        }
    }

    return 0;
}

ngx_uint_t
ngx_tg_imported_item_is_selected(const ngx_tg_mcp_server_t *mcp,
                                 tg_mcp_kind_t kind, tg_str_t name,
                                 tg_str_t client_name)
{
    const ngx_array_t *include;

    if (kind == TG_MCP_TOOLS) {
        include = mcp->include_patterns;
    } else if (kind == TG_MCP_PROMPTS ? mcp->has_no_prompts
                                      : mcp->has_no_resources) {
        return 0;
    } else {
        include = kind == TG_MCP_PROMPTS ? mcp->prompt_patterns
                                         : mcp->uri_patterns;
    }

    return (include == NULL
            || ngx_tg_patterns_match(include, name, client_name))
           && !ngx_tg_patterns_match(mcp->exclude_patterns, name, client_name);
}

/* Checks for a segment "." or ".." and for bytes that parsers change. */
static ngx_uint_t
ngx_tg_uri_is_ambiguous(tg_str_t text)
{
    tg_str_t segment;
    size_t i;

    for (i = 0; i < text.len; i++) {
        if ((u_char) text.data[i] < ' ' || text.data[i] == '\\') {
            return 1;
        }
    }

    for (/* void */;; text = tg_str_skip(text, segment.len + 1)) {
        segment = tg_str(text.data, tg_str_find_char(text, ":/?#"));

        if (tg_str_eq(segment, TG_STR(".")) || tg_str_eq(segment, TG_STR("..")))
        {
            return 1;
        }

        if (segment.len == text.len) {
            return 0;
        }
    }
}

ngx_uint_t
ngx_tg_imported_uri_is_selected(const ngx_tg_mcp_server_t *mcp, tg_str_t uri)
{
    char room[TG_URI_MAX];
    tg_buf_t text;
    size_t i;

    if (!ngx_tg_imported_item_is_selected(mcp, TG_MCP_RESOURCES, uri, uri)) {
        return 0;
    }

    if (mcp->uri_patterns == NULL && mcp->exclude_patterns == NULL) {
        return 1;
    }

    text = tg_buf_make_fixed(room, sizeof(room));
    (void) tg_uri_append_decoded(&text, uri);

    for (i = 0; i < text.len && room[i] != ':'; i++) {
        room[i] = tg_to_lower(room[i]);
    }

    return !tg_buf_has_failed(&text)
           && !ngx_tg_uri_is_ambiguous(tg_buf_view(&text))
           && !ngx_tg_patterns_match(mcp->exclude_patterns, tg_buf_view(&text),
                                     tg_buf_view(&text));
}

/* --- unused patterns --- */

ngx_uint_t
ngx_tg_mcp_server_count_patterns(const ngx_tg_mcp_server_t *mcp)
{
    const ngx_array_t *patterns;
    ngx_uint_t n;
    size_t i;

    n = mcp->tools != NULL ? mcp->tools->nelts : 0;

    for (i = 0; i < NGX_TG_PATTERN_GROUPS; i++) {
        patterns = ngx_tg_mcp_server_get_patterns(mcp, i);
        n += patterns != NULL ? patterns->nelts : 0;
    }

    return n;
}

/* A pattern of the block with its directive. */
typedef struct {
    const char *directive;
    const char *noun;
    unsigned kinds; /* kinds of items that it is about */
    ngx_str_t text;
} ngx_tg_pattern_t;

/* Returns the block's i-th pattern; a `tool` block counts as one. */
static ngx_tg_pattern_t
ngx_tg_mcp_server_get_pattern(const ngx_tg_mcp_server_t *mcp, ngx_uint_t i)
{
    const ngx_array_t *patterns;
    ngx_tg_pattern_t pattern;
    ngx_tg_tool_t **tool;
    ngx_uint_t n;
    size_t k;

    for (k = 0; k < NGX_TG_PATTERN_GROUPS; k++) {
        patterns = ngx_tg_mcp_server_get_patterns(mcp, k);
        n = patterns != NULL ? patterns->nelts : 0;

        if (i < n) {
            pattern.directive = ngx_tg_pattern_groups[k].directive;
            pattern.noun = ngx_tg_pattern_groups[k].noun;
            pattern.kinds = ngx_tg_pattern_groups[k].kinds;
            pattern.text = ((ngx_str_t *) patterns->elts)[i];
            return pattern;
        }

        i -= n;
    }

    tool = mcp->tools->elts;
    pattern.directive = "tool";
    pattern.noun = "tools";
    pattern.kinds = TG_MCP_KIND_BIT(TG_MCP_TOOLS);
    pattern.text.data = (u_char *) tool[i]->entry.name.data;
    pattern.text.len = tool[i]->entry.name.len;

    return pattern;
}

void
ngx_tg_imported_list_mark_patterns(const ngx_tg_mcp_server_t *mcp,
                                   ngx_tg_imported_list_t *list,
                                   const ngx_tg_imported_list_item_t *element)
{
    ngx_tg_pattern_t pattern;
    ngx_uint_t i, n;

    n = list->used_patterns != NULL ? ngx_tg_mcp_server_count_patterns(mcp) : 0;

    for (i = 0; i < n; i++) {
        if (list->used_patterns[i]) {
            continue;
        }

        pattern = ngx_tg_mcp_server_get_pattern(mcp, i);
        list->used_patterns[i] =
            (pattern.kinds & TG_MCP_KIND_BIT(element->kind)) != 0
            && ngx_tg_pattern_matches(&pattern.text, element->name,
                                      element->client_name);
    }
}

void
ngx_tg_imported_list_warn_unused(ngx_tg_mcp_server_t *mcp,
                                 const ngx_tg_imported_list_t *list,
                                 ngx_log_t *log)
{
    ngx_tg_pattern_t pattern;
    ngx_uint_t i, n;

    n = list->used_patterns != NULL ? ngx_tg_mcp_server_count_patterns(mcp) : 0;

    for (i = 0; i < n; i++) {
        pattern = ngx_tg_mcp_server_get_pattern(mcp, i);

        /* A pattern of URIs may be for resources that are not listed. */
        if (!list->used_patterns[i] && pattern.kinds != NGX_TG_URI_KINDS
            && ngx_tg_log_throttle_take(&mcp->pace, NGX_LOG_WARN, log))
        {
            ngx_log_error(NGX_LOG_WARN, log, 0,
                          "\"%s %V\" of mcp_server \"%V\" matches none of its "
                          "%s",
                          pattern.directive, &pattern.text, &mcp->name,
                          pattern.noun);
        }
    }
}

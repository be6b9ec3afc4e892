/* Lists of tools, their schemas, and the arguments and help of a tool. */
#ifndef TG_CLI_TOOL_H
#define TG_CLI_TOOL_H

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_json.h"

/* Returns the description of a tool or prompt, or else its title. */
tg_str_t tg_cli_tool_get_description(json_object *tool);

/* --- lists of tools, prompts or resources, as the server sent them --- */

/* Finds an entry by its name or URI. Returns NULL if there is none. */
json_object *tg_cli_list_find(json_object *list, tg_mcp_kind_t kind,
                              tg_str_t name);

/* Suggests similar names. Returns TG_CLI_EXIT_REFUSED. */
int tg_cli_list_report_unknown(json_object *list, tg_mcp_kind_t kind,
                               tg_str_t name);

/*
 * Fetches the lists of other kinds, and reports the command for the entry of
 * this name. Returns 1 if there is such an entry.
 */
int tg_cli_list_report_other_kind(tg_cli_session_t *session, tg_mcp_kind_t kind,
                                  tg_str_t name);

/*
 * Reports that the list of this kind, the session's last result, has no such
 * entry, but another kind may have it. Returns TG_CLI_EXIT_REFUSED.
 */
int tg_cli_list_report_missing(tg_cli_session_t *session, tg_mcp_kind_t kind,
                               tg_str_t name);

/*
 * Reports the session's last error, of a request for a tool or prompt; suggests
 * similar names if there is none of this name. Returns TG_CLI_EXIT_REFUSED.
 */
int tg_cli_list_report_error(tg_cli_session_t *session, tg_mcp_kind_t kind,
                             tg_str_t name);

/* --- schemas: root is the tool's inputSchema --- */

/* Checks whether a value is this text, or a list that contains it. */
int tg_cli_json_has_string(json_object *value, const char *text);

/*
 * Returns schema, or its alternative that allows strings, or the first one
 * that is not null.
 */
json_object *tg_cli_schema_pick_alternative(json_object *root,
                                            json_object *schema);

/* Also searches $ref and allOf. Returns 1, with NULL for `null`, or 0. */
int tg_cli_schema_find_keyword(json_object *root, json_object *schema,
                               const char *keyword, json_object **value);
json_object *tg_cli_schema_get_keyword(json_object *root, json_object *schema,
                                       const char *keyword);

/* --- similar names --- */

/* The most similar name so far. */
typedef struct {
    tg_str_t name;  /* unknown name */
    tg_str_t found; /* valid as long as the added names */
    size_t rank;    /* 0: no similar name */
} tg_cli_suggestion_t;

void tg_cli_suggestion_init(tg_cli_suggestion_t *suggestion, tg_str_t name);
void tg_cli_suggestion_add(tg_cli_suggestion_t *suggestion, tg_str_t known);

/* `; did you mean path?`, or nothing, for a format of printf(). */
#define TG_CLI_SUGGESTION_FORMAT "%s%.*s%s"
#define TG_CLI_SUGGESTION_ARGS(suggestion)                                     \
    (suggestion)->rank != 0 ? "; did you mean " : "",                          \
        (int) (suggestion)->found.len, (suggestion)->found.data,               \
        (suggestion)->rank != 0 ? "?" : ""

/* --- tg_cli_tool_args.c --- */

int tg_cli_tool_args_need_schema(char **args, int nargs);

/*
 * Appends a JSON object, or with allow_array an array. schema: inputSchema, or
 * NULL; it decides whether the value of key=value is a string or JSON.
 */
int tg_cli_tool_args_write_json(char **args, int nargs, json_object *schema,
                                int allow_array, tg_buf_t *json);

/* --- tg_cli_tool_help.c --- */

/*
 * Fetches the list of tools and explains one tool. Returns the exit status,
 * which is TG_CLI_EXIT_FAILED if the name may be that of a command.
 */
int tg_cli_tool_help_print(const tg_cli_options_t *options, const char *name);

#endif

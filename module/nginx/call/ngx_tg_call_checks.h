/* Access rules, and the arguments that a handler reads. */
#ifndef _NGX_TG_CALL_CHECKS_H_INCLUDED_
#define _NGX_TG_CALL_CHECKS_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/call/ngx_tg_session_base.h"

/*
 * Checks whether a client may see and call an entry. The first
 * matching rule decides; the tool's rules come before the server's. Without a
 * matching rule access is allowed.
 */
ngx_uint_t ngx_tg_entry_is_allowed(const ngx_tg_srv_conf_t *scf,
                                   const tg_catalog_entry_t *entry,
                                   const ngx_tg_client_t *client);

/*
 * Returns the access rules of `toolgate.status` and the other tools for
 * operators: `others` (or NULL), then tool_status_allow, then `deny all`. NULL:
 * no memory.
 */
ngx_array_t *ngx_tg_conf_make_status_rules(ngx_conf_t *cf,
                                           const ngx_tg_srv_conf_t *scf,
                                           const ngx_array_t *others);

/* Frees the worker's schema validator. */
void ngx_tg_schema_checker_exit(void);

/*
 * Returns the schema property that a variable's name means, so that the tool
 * uses the argument that was validated; NULL: the argument has the variable's
 * own name.
 */
const ngx_tg_arg_property_t *ngx_tg_tool_find_property(
    const ngx_tg_tool_t *tool, tg_str_t name);

/*
 * Finds a member of an object in the arguments, with an index of it (notes) or
 * NULL; returns as tg_json_index_get(). The lookup counts as steps of the
 * frame. TG_LIMIT: no steps are left, and the call fails once it evaluates its
 * values.
 */
int ngx_tg_call_lookup_arg(ngx_tg_call_t *call, const tg_json_index_t *notes,
                           tg_str_t object, tg_str_t name,
                           tg_json_member_t *note);

/*
 * Checks whether an argument counts as absent: a null does, where a variable
 * puts its text into a word, a URL, a header or the like, but not in responses
 * and not in logs.
 */
static ngx_inline ngx_uint_t
ngx_tg_call_is_arg_absent(const ngx_tg_call_t *call, tg_variable_type_t kind,
                          tg_str_t value)
{
    return kind == TG_VARIABLE_ARG && !call->has_nulls
           && call->base->ended_record == NULL
           && tg_json_type(value) == TG_JSON_NULL;
}

/*
 * Finds the argument that a path leads to, or its default in the schema.
 * note->value is raw, or absent.
 */
void ngx_tg_call_get_path_value(ngx_tg_call_t *call,
                                const ngx_tg_arg_path_t *path,
                                tg_json_member_t *note);

/*
 * Iterator over the elements of an array in the arguments. An absent array and
 * null have no elements; any other value is one element.
 */
typedef struct {
    tg_json_cursor_t json;
    tg_str_t single; /* the value, if it is not an array; else absent */
    unsigned is_integer:1;
} ngx_tg_arg_elements_t;

/* Starts the iteration over the elements of the argument that path leads to. */
void ngx_tg_call_begin_elements(ngx_tg_call_t *call,
                                const ngx_tg_arg_path_t *path,
                                ngx_tg_arg_elements_t *elements);

/* Sets call->element to the next element. Returns 0 after the last one. */
ngx_uint_t ngx_tg_call_next_element(ngx_tg_call_t *call,
                                    ngx_tg_arg_elements_t *elements);

#endif

/* `field` of an `ask`: a property of the form's schema. */
#ifndef _NGX_TG_ASK_FIELD_H_INCLUDED_
#define _NGX_TG_ASK_FIELD_H_INCLUDED_

#include "nginx/config/ngx_tg_ask.h"

/* Raw parts of a form's schema, while its block is read. */
typedef struct {
    tg_str_t properties; /* object, or absent */
    tg_str_t required;   /* array, or absent */
} ngx_tg_ask_fields_t;

/*
 * Adds the field of the current directive, field NAME TYPE [required]
 * [title=TEXT] [description=TEXT] [default=VALUE] [min=N] [max=N] [one_of=A,B]
 *. Returns NGX_CONF_OK, or NGX_CONF_ERROR after logging.
 */
char *ngx_tg_ask_add_field(ngx_conf_t *cf, ngx_tg_ask_fields_t *fields);

/*
 * Checks a raw schema for what MCP allows in a form. Returns NULL, or the text
 * that follows `"schema" ` in the error message.
 */
const char *ngx_tg_ask_check_schema(tg_str_t schema);

#endif

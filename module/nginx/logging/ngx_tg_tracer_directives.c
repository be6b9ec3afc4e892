/* The directive `tool_trace`. */
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/logging/ngx_tg_tracer.h"

#if (NGX_TG_MSGPACK)

/* Checks whether our variable depends on a call, not only on the client. */
static ngx_uint_t
ngx_tg_variable_is_of_call(tg_str_t name)
{
    return tg_str_has_prefix_nocase(name, TG_STR("tool_"))
           && !tg_str_has_prefix_nocase(name, TG_STR("tool_client_"))
           && !tg_str_eq(name, TG_STR("tool_protocol"));
}

/* Parses an optional argument. Returns NULL or an error message's end. */
static const char *
ngx_tg_tracer_parse_parameter(ngx_conf_t *cf, ngx_tg_trace_conf_t *trace,
                              ngx_str_t *value)
{
    const char *why;
    int64_t size;
    tg_str_t name;
    ngx_str_t s;

    if (ngx_tg_arg_has_name(value, "body=", &s)) {
        if (ngx_tg_arg_parse(TG_SPEC_SIZE, &s, 0, NGX_TG_TRACE_BODY_MAX, &size)
            != NGX_OK)
        {
            return "write a size of at most 1m, such as \"body=4k\"";
        }

        trace->body = (size_t) size;

        return NULL;
    }

    if (ngx_tg_arg_has_name(value, "if=", &s)) {
        why = ngx_tg_conf_parse_filter(cf, &s, &trace->filter, &name);

        return why == NULL && ngx_tg_variable_is_of_call(name)
                   ? "write a variable of the client, such as "
                     "\"$tool_client_pid\", or a map of one: a frame belongs "
                     "to no call"
                   : why;
    }

    return "write \"body=SIZE\" or \"if=$VARIABLE\" behind the path";
}

static char *
ngx_tg_tracer_parse_path(ngx_conf_t *cf, ngx_tg_trace_conf_t *trace,
                         ngx_str_t *path)
{
    if (ngx_strlchr(path->data, path->data + path->len, '$') != NULL
        || ngx_strncmp(path->data, "syslog:", 7) == 0)
    {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" is not a file path; a trace is "
                                 "written to one file, and \"if=\" selects "
                                 "connections",
                                 path);
    }

    trace->tracer = ngx_tg_tracer_open_file(cf, path);

    return trace->tracer != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* tool_trace PATH [if=$VARIABLE] [body=SIZE] | off */
char *
ngx_tg_conf_set_trace(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_tg_trace_conf_t *trace;
    ngx_str_t *value;
    const char *why;
    ngx_uint_t i;

    value = cf->args->elts;

    if (scf->trace != NULL) {
        return "is duplicate; a trace is written to one file";
    }

    trace = ngx_pcalloc(cf->pool, sizeof(ngx_tg_trace_conf_t));

    if (trace == NULL) {
        return NGX_CONF_ERROR;
    }

    scf->trace = trace;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        return cf->args->nelts == 2 ? NGX_CONF_OK
                                    : "takes nothing after \"off\"";
    }

    for (i = 2; i < cf->args->nelts; i++) {
        why = ngx_tg_tracer_parse_parameter(cf, trace, &value[i]);

        if (why != NULL) {
            return ngx_tg_conf_error(cf, "invalid \"%V\" in \"%V\"; %s",
                                     &value[i], &cmd->name, why);
        }
    }

    return ngx_tg_tracer_parse_path(cf, trace, &value[1]);
}

#else

char *
ngx_tg_conf_set_trace(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return "is not in this build of Toolgate, which was made without "
           "msgpack-c; run apt-get install libmsgpack-dev, then ./build.sh "
           "build and install again, or remove this line";
}

#endif

/* The directive `trigger` of an automation block: which events start a rule. */
#include "nginx/handlers/ngx_tg_automation.h"

/* An option NAME=VALUE of a trigger. */
typedef struct {
    ngx_str_t name;
    ngx_uint_t (*write)(tg_buf_t *json, ngx_str_t *text);
    ngx_uint_t is_many; /* it may occur more than once */
    const char *advice;
} ngx_tg_trigger_option_t;

static ngx_uint_t
ngx_tg_trigger_write_text(tg_buf_t *json, ngx_str_t *text)
{
    tg_json_write_string(json, ngx_tg_str_from_ngx(text));

    return 1;
}

/* Writes words separated by commas as a JSON array. */
static ngx_uint_t
ngx_tg_trigger_write_words(tg_buf_t *json, ngx_str_t *text)
{
    u_char *p, *last, *comma;
    ngx_str_t word;

    last = text->data + text->len;
    tg_buf_append_char(json, '[');

    for (p = text->data;; p = comma + 1) {
        comma = ngx_strlchr(p, last, ',');
        word.data = p;
        word.len = (comma != NULL ? comma : last) - p;
        tg_json_write_string(json, ngx_tg_str_from_ngx(&word));

        if (comma == NULL) {
            break;
        }

        tg_buf_append_char(json, ',');
    }

    tg_buf_append_char(json, ']');

    return 1;
}

static ngx_uint_t
ngx_tg_trigger_write_time(tg_buf_t *json, ngx_str_t *text)
{
    ngx_int_t ms;

    ms = ngx_parse_time(text, 0);

    if (ms == NGX_ERROR || ms > TG_RULE_DEBOUNCE_MS_MAX) {
        return 0;
    }

    tg_buf_append_int(json, ms);

    return 1;
}

static const ngx_tg_trigger_option_t ngx_tg_trigger_cron_options[] = {
    { ngx_string("zone="), ngx_tg_trigger_write_text, 0, NULL },
    { ngx_string("missed="), ngx_tg_trigger_write_text, 0, NULL },
    { ngx_null_string, NULL, 0,
      "write the five fields in quotes, optionally followed by \"zone=NAME\" "
      "or \"missed=skip\"" },
};

static const ngx_tg_trigger_option_t ngx_tg_trigger_event_options[] = {
    { ngx_string("type="), ngx_tg_trigger_write_text, 0, NULL },
    { ngx_string("source="), ngx_tg_trigger_write_text, 0, NULL },
    { ngx_string("pattern="), ngx_tg_trigger_write_text, 0, NULL },
    { ngx_null_string, NULL, 0,
      "write \"type=NAME\", \"source=NAME\" or \"pattern=REGEX\"" },
};

static const ngx_tg_trigger_option_t ngx_tg_trigger_file_options[] = {
    { ngx_string("glob="), ngx_tg_trigger_write_text, 1, NULL },
    { ngx_string("events="), ngx_tg_trigger_write_words, 0,
      "write a list of create, change and delete, separated by commas" },
    { ngx_string("debounce="), ngx_tg_trigger_write_time, 0,
      "write a time of at most 1h, such as \"debounce=2s\"" },
    { ngx_null_string, NULL, 0,
      "write \"glob=PATTERN\", \"events=LIST\" or \"debounce=TIME\"" },
};

static char *
ngx_tg_trigger_option_conf_error(ngx_conf_t *cf, const ngx_str_t *word,
                                 const char *advice)
{
    return ngx_tg_conf_error(cf, "invalid parameter \"%V\" in \"trigger\"; %s",
                             word, advice);
}

/*
 * Appends an option as a JSON member; of an option that may occur more than
 * once, only its value.
 */
static char *
ngx_tg_trigger_parse_option(ngx_conf_t *cf,
                            const ngx_tg_trigger_option_t *options,
                            ngx_str_t *word, ngx_uint_t *seen, tg_buf_t *json)
{
    const ngx_tg_trigger_option_t *option;
    ngx_str_t text;

    for (option = options;
         option->name.len != 0
         && (word->len <= option->name.len
             || ngx_strncmp(word->data, option->name.data, option->name.len)
                    != 0);
         option++)
    {
        /* void */
    }

    if (option->name.len == 0 || !tg_utf8_is_valid(ngx_tg_str_from_ngx(word))) {
        return ngx_tg_trigger_option_conf_error(cf, word, option->advice);
    }

    if ((*seen & 1 << (option - options)) && !option->is_many) {
        return ngx_tg_trigger_option_conf_error(cf, word, "it is given twice");
    }

    *seen |= 1 << (option - options);
    text.data = word->data + option->name.len;
    text.len = word->len - option->name.len;

    if (!option->is_many) {
        tg_buf_append_cstr(json, json->len != 1 ? "," : "");
        tg_buf_printf(json, "\"%.*s%s\":", (int) option->name.len - 1,
                      option->name.data,
                      option->write == ngx_tg_trigger_write_time ? "Ms" : "");
    }

    return option->write(json, &text)
               ? NGX_CONF_OK
               : ngx_tg_trigger_option_conf_error(cf, word, option->advice);
}

/*
 * Parses the options from the word `first` on; those that may occur more than
 * once come first in the JSON.
 */
static char *
ngx_tg_trigger_parse_options(ngx_conf_t *cf,
                             const ngx_tg_trigger_option_t *options,
                             ngx_uint_t first, tg_buf_t *json)
{
    ngx_uint_t i, seen, is_many;
    ngx_str_t *value;
    char *rv;

    value = cf->args->elts;
    rv = NGX_CONF_OK;
    seen = 0;

    for (i = first;
         options->is_many && rv == NGX_CONF_OK && i < cf->args->nelts; i++)
    {
        if (ngx_strncmp(value[i].data, options->name.data, options->name.len)
            == 0) {
            tg_buf_append_cstr(json, seen == 0 ? ",\"glob\":[" : ",");
            rv = ngx_tg_trigger_parse_option(cf, options, &value[i], &seen,
                                             json);
        }
    }

    tg_buf_append_cstr(json, seen != 0 ? "]" : "");

    for (i = first; rv == NGX_CONF_OK && i < cf->args->nelts; i++) {
        is_many = options->is_many
                  && ngx_strncmp(value[i].data, options->name.data,
                                 options->name.len)
                         == 0;

        if (!is_many) {
            rv = ngx_tg_trigger_parse_option(cf, options, &value[i], &seen,
                                             json);
        }
    }

    return rv;
}

static char *
ngx_tg_trigger_write_json(ngx_conf_t *cf, tg_buf_t *json)
{
    ngx_str_t *value;

    value = cf->args->elts;

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[2]))) {
        return "is not valid UTF-8";
    }

    if (ngx_strcmp(value[1].data, "event") == 0) {
        tg_buf_append_char(json, '{');
        return ngx_tg_trigger_parse_options(cf, ngx_tg_trigger_event_options, 2,
                                            json);
    }

    if (ngx_strcmp(value[1].data, "cron") == 0) {
        tg_buf_append_cstr(json, "{\"type\":\"cron\",\"expression\":");
        tg_json_write_string(json, ngx_tg_str_from_ngx(&value[2]));
        return ngx_tg_trigger_parse_options(cf, ngx_tg_trigger_cron_options, 3,
                                            json);
    }

    if (ngx_strcmp(value[1].data, "file") != 0) {
        return ngx_tg_conf_error(cf,
                                 "unknown trigger \"%V\"; write \"cron\", "
                                 "\"event\" or \"file\"",
                                 &value[1]);
    }

    if (ngx_conf_full_name(cf->cycle, &value[2], 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    tg_buf_append_cstr(json, "{\"type\":\"file\",\"path\":");
    tg_json_write_string(json, ngx_tg_str_from_ngx(&value[2]));

    return ngx_tg_trigger_parse_options(cf, ngx_tg_trigger_file_options, 3,
                                        json);
}

char *
ngx_tg_automation_set_trigger(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_automation_t *automation = conf;

    tg_buf_t json;
    char *rv;

    (void) cmd;

    if (automation->trigger.len != 0) {
        return "is duplicate; write a separate rule for each trigger";
    }

    tg_buf_init(&json, tg_alloc_libc());
    rv = ngx_tg_trigger_write_json(cf, &json);

    if (rv != NGX_CONF_OK) {
        tg_buf_deinit(&json);
        return rv;
    }

    tg_buf_append_char(&json, '}');

    return ngx_tg_buf_move_to_pool(cf->pool, &json, &automation->trigger)
                   == NGX_OK
               ? NGX_CONF_OK
               : NGX_CONF_ERROR;
}

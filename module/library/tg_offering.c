/*
 * Tools and methods of a server, which may change while it runs.
 */
#include "library/tg_server.h"

#include <stdlib.h>

static void
tg_offering_take(tg_run_t *run, tg_order_t *order)
{
    tg_session_t *session;
    uint64_t before;

    if (run == NULL) {
        tg_catalogue_release(order->catalogue);
        tg_order_free(order);
        return;
    }

    before = tg_catalogue_digest(run->catalogue);
    tg_catalogue_release(run->catalogue);
    run->catalogue = order->catalogue;
    tg_order_free(order);

    for (session = run->first; session != NULL; session = session->next) {
        tg_peer_offer(&session->peer, run->catalogue);

        if (tg_catalogue_digest(run->catalogue) != before) {
            tg_peer_list_changed(&session->peer);
            tg_session_mark(session);
        }
    }
}

/* Clients that are there are told; nobody is there: nothing. */
static int
tg_offering_change(toolgate_server_t *server)
{
    tg_catalogue_t *catalogue;
    tg_order_t *order;
    int rc;

    if (server->run == NULL) {
        return 0;
    }

    catalogue = tg_offers_catalogue(&server->offers);

    if (catalogue == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    /* The file first: who is told may look at it. */
    order = tg_order_new(TG_STR_NONE, TG_STR_NONE);
    rc = order != NULL ? tg_server_write(server, catalogue)
                       : TOOLGATE_ERR_MEMORY;

    if (rc == 0) {
        order->execute = tg_offering_take;
        order->catalogue = catalogue;
        rc = tg_run_order(server->run, order);
    }

    if (rc == 0) {
        return 0;
    }

    tg_order_free(order);
    tg_catalogue_release(catalogue);

    return rc;
}

static int
tg_offering_missing(tg_entry_kind_t kind, const char *name)
{
    return tg_error(TOOLGATE_ERR_ARGUMENT, "there is no %s \"%s\"",
                    kind == TG_ENTRY_TOOL ? "tool" : "method", name);
}

static int
tg_offering_add(toolgate_server_t *server, tg_tool_t *tool)
{
    int rc;

    if (tg_offers_find(&server->offers, tool->entry.kind, tool->name) != NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT,
                        "there is a %s \"%s\" already; remove it first",
                        tool->entry.kind == TG_ENTRY_TOOL ? "tool" : "method",
                        tool->name);
    }

    rc = tg_offers_add(&server->offers, tool);

    if (rc == 0) {
        (void) tg_tool_hold(tool);
        rc = tg_offering_change(server);

        if (rc != 0) {
            tg_offers_remove(&server->offers,
                             &server->offers.list[server->offers.n - 1]);
        }
    }

    return rc;
}

static int
tg_offering_new(toolgate_server_t *server, tg_entry_kind_t kind,
                const char *name, const char *const *texts,
                toolgate_call_pt called, void *data)
{
    tg_tool_t *tool;
    int rc;

    if (name == NULL || called == NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT,
                        "a tool has a name and a function to call");
    }

    rc = tg_tool_new(kind, name, texts, called, data, &tool);

    if (rc != 0) {
        return rc;
    }

    tg_library_lock();
    rc = tg_server_is_foreign(server);
    rc = rc == 0 ? tg_offering_add(server, tool) : rc;
    tg_library_unlock();
    tg_tool_release(tool);

    return rc;
}

int
toolgate_add_tool(toolgate_server_t *server, const char *name,
                  const char *description, const char *input_schema,
                  toolgate_call_pt called, void *data)
{
    const char *texts[TG_TOOL_OPTIONS] = {
        [TG_TOOL_DESCRIPTION] = description,
        [TG_TOOL_INPUT_SCHEMA] = input_schema,
    };

    return tg_offering_new(server, TG_ENTRY_TOOL, name, texts, called, data);
}

int
toolgate_add_method(toolgate_server_t *server, const char *name,
                    toolgate_call_pt called, void *data)
{
    static const char *const texts[TG_TOOL_OPTIONS];

    return tg_offering_new(server, TG_ENTRY_METHOD, name, texts, called, data);
}

/* In the place of what it was; that is back when nobody can be told. */
static int
tg_offering_replace(toolgate_server_t *server, tg_offer_t *offer,
                    tg_tool_t *tool)
{
    tg_tool_t *before;
    int rc;

    before = offer->tool;
    offer->tool = tool;
    rc = tg_offering_change(server);

    if (rc != 0) {
        offer->tool = before;
        before = tool;
    }

    tg_tool_release(before);

    return rc;
}

static int
tg_offering_set(toolgate_server_t *server, tg_entry_kind_t kind,
                const char *name, const char *option, const char *value)
{
    tg_offer_t *offer;
    tg_tool_t *tool;
    int rc;

    if (name == NULL || option == NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "an option has a name");
    }

    tg_library_lock();
    offer = tg_offers_find(&server->offers, kind, name);
    rc = offer == NULL ? tg_offering_missing(kind, name)
                       : tg_server_is_foreign(server);

    if (rc == 0 && offer != NULL) {
        rc = tg_tool_change(offer->tool, option, value, &tool);
        rc = rc == 0 ? tg_offering_replace(server, offer, tool) : rc;
    }

    tg_library_unlock();

    return rc;
}

int
toolgate_set_tool(toolgate_server_t *server, const char *name,
                  const char *option, const char *value)
{
    return tg_offering_set(server, TG_ENTRY_TOOL, name, option, value);
}

int
toolgate_set_method(toolgate_server_t *server, const char *name,
                    const char *option, const char *value)
{
    return tg_offering_set(server, TG_ENTRY_METHOD, name, option, value);
}

static int
tg_offering_remove(toolgate_server_t *server, tg_entry_kind_t kind,
                   const char *name)
{
    tg_offer_t *offer;
    int rc;

    tg_library_lock();
    offer = name != NULL ? tg_offers_find(&server->offers, kind, name) : NULL;
    rc = offer == NULL ? tg_offering_missing(kind, name != NULL ? name : "")
                       : tg_server_is_foreign(server);

    if (rc == 0 && offer != NULL) {
        offer->is_hidden = 1;
        rc = tg_offering_change(server);

        if (rc == 0) {
            tg_offers_remove(&server->offers, offer);
        } else {
            offer->is_hidden = 0;
        }
    }

    tg_library_unlock();

    return rc;
}

int
toolgate_remove_tool(toolgate_server_t *server, const char *name)
{
    return tg_offering_remove(server, TG_ENTRY_TOOL, name);
}

int
toolgate_remove_method(toolgate_server_t *server, const char *name)
{
    return tg_offering_remove(server, TG_ENTRY_METHOD, name);
}

/* --- filters --- */

/* Which tools there are, each held: they may go while the program is asked. */
static int
tg_offering_tools(toolgate_server_t *server, tg_offers_t *tools)
{
    const tg_offer_t *offer;
    size_t i;
    int rc;

    rc = 0;
    tg_library_lock();

    for (i = 0; rc == 0 && i < server->offers.n; i++) {
        offer = &server->offers.list[i];

        if (offer->tool->entry.kind == TG_ENTRY_TOOL) {
            rc = tg_offers_add(tools, offer->tool);

            if (rc == 0) {
                (void) tg_tool_hold(offer->tool);
            }
        }
    }

    tg_library_unlock();

    return rc;
}

static int
tg_offering_apply(toolgate_server_t *server, const tg_offers_t *asked)
{
    tg_offer_t *offer;
    size_t i;
    int rc;

    rc = tg_server_is_foreign(server);

    for (i = 0; rc == 0 && i < asked->n; i++) {
        offer = tg_offers_find(&server->offers, TG_ENTRY_TOOL,
                               asked->list[i].tool->name);

        if (offer != NULL) {
            offer->is_hidden = asked->list[i].is_hidden;
        }
    }

    /* The configuration is another one. */
    if (rc == 0 && server->run == NULL) {
        server->has_files = 0;
    }

    return rc == 0 ? tg_offering_change(server) : rc;
}

int
toolgate_filter(toolgate_server_t *server, toolgate_filter_pt filter,
                void *data)
{
    tg_offers_t tools;
    size_t i;
    int rc;

    memset(&tools, 0, sizeof(tools));
    rc = tg_offering_tools(server, &tools);

    for (i = 0; rc == 0 && filter != NULL && i < tools.n; i++) {
        tools.list[i].is_hidden = !filter(tools.list[i].tool->name, data);
    }

    if (rc == 0) {
        tg_library_lock();
        rc = tg_offering_apply(server, &tools);
        tg_library_unlock();
    }

    tg_offers_deinit(&tools);

    return rc;
}

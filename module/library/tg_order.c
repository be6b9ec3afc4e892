#include "library/tg_run.h"

#include <stdlib.h>

tg_order_t *
tg_order_new(tg_str_t text, tg_str_t more)
{
    tg_order_t *order;

    order = malloc(sizeof(*order) + text.len + more.len);

    if (order == NULL) {
        (void) tg_error_memory();
        return NULL;
    }

    memset(order, 0, sizeof(*order));
    order->at = text.len;
    order->len = text.len + more.len;
    order->size = order->len;

    if (text.len != 0) {
        memcpy(order->text, text.data, text.len);
    }

    if (more.len != 0) {
        memcpy(order->text + text.len, more.data, more.len);
    }

    return order;
}

void
tg_order_free(tg_order_t *order)
{
    free(order);
}

int
tg_run_order(tg_run_t *run, tg_order_t *order)
{
    /* One that is larger than that alone goes as well as many small ones. */
    if (order->size != 0 && run->ordered != 0
        && run->ordered + order->size > TG_ORDERS_MAX)
    {
        return tg_error(TOOLGATE_ERR_BUSY,
                        "more than %d bytes wait for the loop; is it held by a "
                        "callback, or not run?",
                        TG_ORDERS_MAX);
    }

    order->next = NULL;
    *run->last_order = order;
    run->last_order = &order->next;
    run->ordered += order->size;
    atomic_store(&run->has_orders, 1);
    (void) uv_async_send(&run->async);

    return 0;
}
